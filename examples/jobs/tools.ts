// The job API as a tool. Submitting is one effect; what comes after it is only looked at, first by
// the job's own id and, where the reply with the id was lost, by what we call the job.

import * as z from 'zod';
import {
  defineTool,
  type Inquiry,
  type InquiryAnswer,
  type Settlement,
} from '../../activities/index.ts';

type Report = { report: string };
const inputSchema = z.strictObject({ report: z.string().min(1) });
const jobSchema = z.looseObject({
  id: z.string().min(1),
  status: z.enum(['running', 'done', 'failed']),
  result: z.string().nullish(),
});

const POLL_TIMEOUT_MS = 5_000;

export function jobTools({ url }: { readonly url: string }) {
  const makeReport = defineTool<{ report: string }, Report>({
    name: 'make_report',
    version: '1',
    description: 'Has a report made, which takes a while.',
    input: inputSchema,
    // It compares no keys, so a second request would be a second job: never repeated. Level L1.
    receiver: {
      scope: { receiver: 'jobs', account: 'shop', workspace: 'live', region: 'eu' },
      // A job is found as soon as it is taken. How long a request may be on its way is not said,
      // so `requestDelayMaxMs` stays none, and finding nothing proves nothing.
      inquiry: { consistency: 'strong', settleMs: 0 },
    },
    async execute({ report }, attempt) {
      const body = JSON.stringify({ client_reference: attempt.receiverKey, report });
      attempt.beforeSend();
      const { signal } = attempt;
      return submissionOf(await fetch(`${url}/jobs`, { method: 'POST', body, signal }));
    },
    inquire: (inquiry) => jobOf(url, inquiry),
  });
  return { make_report: makeReport };
}

/** 202 is no result: the job is the receiver's now, and its id is written down before all else. */
async function submissionOf(response: Response): Promise<Settlement<Report>> {
  const { status } = response;
  if (status === 202)
    return { kind: 'accepted', externalId: jobSchema.parse(await response.json()).id };
  if (status === 401 || status === 429 || status === 503)
    return { kind: 'not_taken', code: String(status), message: 'not considered' };
  throw new Error(`${status} settles nothing: ${await response.text()}`);
}

async function jobOf(url: string, inquiry: Inquiry): Promise<InquiryAnswer<Report>> {
  const { externalId, receiverKey } = inquiry;
  const path =
    externalId === null
      ? `references/${encodeURIComponent(receiverKey)}/jobs`
      : `jobs/${encodeURIComponent(externalId)}`;
  const signal = AbortSignal.timeout(POLL_TIMEOUT_MS);
  const response = await fetch(`${url}/${path}`, { signal });
  const { status } = response;
  if (status === 401 || status === 403) return { verdict: 'forbidden', detail: String(status) };
  if (status !== 200) return { verdict: 'unavailable', detail: String(status) };
  const said: unknown = await response.json();
  if (externalId !== null) return answerOf(jobSchema.parse(said));
  const { jobs } = z.object({ jobs: z.array(jobSchema) }).parse(said);
  if (jobs.length > 1) return { verdict: 'conflict', detail: `${jobs.length} jobs of one name` };
  return jobs[0] === undefined ? { verdict: 'no_record' } : answerOf(jobs[0]);
}

function answerOf({ id, status, result }: z.infer<typeof jobSchema>): InquiryAnswer<Report> {
  switch (status) {
    case 'running':
      return { verdict: 'processing', detail: `${id} is running` };
    case 'done':
      return { verdict: 'executed', externalId: id, result: { report: result ?? '' } };
    case 'failed':
      // Its documentation: a job that failed has left nothing behind.
      return { verdict: 'not_executed', proof: 'settled' };
  }
}
