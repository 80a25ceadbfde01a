// All tidiness rules over a set of files. Pure: paths and texts in, findings out.

import { lineAt } from './syntax.ts';
import { codeFindings, proxiesActivities } from './tidy-code.ts';
import { importFindings } from './tidy-imports.ts';
import { linkFindings, textFindings } from './tidy-text.ts';
import { transactionFindings } from './tidy-transactions.ts';

/** Path relative to the project, with `/`; the whole text. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

export function tidyFindings(files: readonly ProjectFile[]): Finding[] {
  const paths = new Set(files.map(({ path }) => path));
  return [
    ...files.flatMap((file) => fileFindings(file, paths)),
    ...proxyFindings(files),
    ...transactionFindings(files),
  ];
}

/** `core/ids.ts:12 pure-core: Date.now: pass …` */
export function findingText({ path, line, rule, message }: Finding): string {
  return `${path}:${line} ${rule}: ${message}`;
}

function fileFindings({ path, text }: ProjectFile, paths: ReadonlySet<string>): Finding[] {
  const found = [
    ...textFindings(path, text),
    ...linkFindings(path, text, paths),
    ...(/\.(ts|mjs|js)$/.test(path) ? syntaxFindings(path, text) : []),
  ];
  return found.map(({ rule, offset, message }) => ({
    path,
    line: lineAt(text, offset),
    rule,
    message,
  }));
}

/** A file that does not parse is one finding, so that the others are still reported. */
function syntaxFindings(
  path: string,
  text: string,
): { rule: string; offset: number; message: string }[] {
  try {
    const imports = importFindings(path, text).map((one) => ({ ...one, rule: 'imports' }));
    return [...codeFindings(path, text), ...imports];
  } catch (error) {
    return [{ rule: 'syntax', offset: 0, message: String(error) }];
  }
}

/** One file of workflows/ proxies activities, and that file sets the hardened options. */
function proxyFindings(files: readonly ProjectFile[]): Finding[] {
  const proxies = files.filter(
    ({ path, text }) => /^workflows\/.*\.ts$/.test(path) && proxiesActivities(path, text),
  );
  const at = (path: string, message: string) => ({
    path,
    line: 1,
    rule: 'hardened-activities',
    message,
  });
  const [first, ...others] = proxies;
  if (first === undefined) return [];
  const missing = ['maximumAttempts: 1', 'allowEagerDispatch: false', 'nonRetryableErrorTypes']
    .filter((option) => !first.text.includes(option))
    .map((option) => at(first.path, `proxies activities without ${option}`));
  return [
    ...missing,
    ...others.map(({ path }) => at(path, `proxies activities; only ${first.path} may`)),
  ];
}
