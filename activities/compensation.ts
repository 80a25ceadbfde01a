// Tools that undo what others did: declared at the tool that undoes, listed as an option at the
// others. Nothing calls them by itself.

import type { RunState } from '../core/run-state.ts';
import type { RegisteredTool, Tools } from './registry.ts';
import type { ApprovalPolicy, Compensated, ToolDefinition } from './tool.ts';

/** What nobody said about approval, a person is asked for: undoing is a decision of its own. */
export function approvalDeclared({
  approval,
  compensates,
}: ToolDefinition<unknown, unknown>): ApprovalPolicy<unknown> | undefined {
  return compensates === undefined ? approval : (approval ?? 'always');
}

type ReportOf = (tool: string, field: string, problem: string) => void;

/** Each tool with the names of those that undo what it did. */
export function withCompensation(
  registered: ReadonlyMap<string, RegisteredTool>,
  declared: Tools,
  report: ReportOf,
): ReadonlyMap<string, RegisteredTool> {
  const options = new Map<string, string[]>();
  for (const { name, compensates } of Object.values(declared))
    for (const undone of compensates?.tools ?? []) {
      if (undone === name) report(name, 'compensates.tools', 'names the tool itself');
      else if (!Object.hasOwn(declared, undone))
        report(name, 'compensates.tools', `names "${undone}", which is not registered`);
      options.set(undone, [...(options.get(undone) ?? []), name]);
    }
  return new Map([...registered].map(([name, tool]) => [name, offering(tool, options.get(name))]));
}

function offering(tool: RegisteredTool, compensation: readonly string[] | undefined) {
  if (compensation === undefined) return tool;
  return { ...tool, policy: { ...tool.policy, compensation: [...compensation] } };
}

/** Of an attempt that has entered; undefined: it compensates nothing. */
export function compensatedBy(
  run: RunState,
  { actionId, attemptId }: { readonly actionId: string; readonly attemptId: string },
): Compensated | undefined {
  const attempt = run.actions.get(actionId)?.attempts.find((each) => each.attemptId === attemptId);
  const link = attempt?.entry.compensates;
  const original = link && run.actions.get(link.actionId);
  const first = original?.attempts[0];
  if (link === undefined || first === undefined) return undefined;
  return {
    ...link,
    receiverKey: first.entry.receiverKey,
    externalId: original?.final?.externalId ?? null,
  };
}
