// A job API as batch services offer it: it takes a job, answers at once with its id, and finishes
// later. It compares no keys: who submits twice has two jobs.
//
//   POST /jobs  {client_reference, report}   202 {id, status: 'running'}
//   GET  /jobs/<id>                          200 the job, 404
//   GET  /references/<reference>/jobs        200 {jobs}: those submitted under it
//   401, 429, 503                            not considered
//   GET  /jobs, GET /asks                    its own log
//   POST /jobs/<id>/finish                   its work comes to an end
//
// INV-1 202 is answered only after the job is on the disk.

import Database from 'better-sqlite3';
import * as z from 'zod';
import type { Aim } from '../../receiver/fault.ts';
import { readBody } from '../../receiver/http.ts';
import { type HttpAnswer, json } from '../../receiver/problem.ts';
import type { HttpCall } from '../../receiver/transport.ts';
import { runService, type Service } from '../stories/service.ts';
import type { Job } from './job-log.ts';

const TABLES = `CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT GENERATED ALWAYS AS ('job-' || number) VIRTUAL, client_reference TEXT NOT NULL,
  report TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'running', result TEXT) STRICT;`;
const COLUMNS = 'SELECT id, client_reference, status, result FROM job';
const jobSchema = z.strictObject({ client_reference: z.string().min(1), report: z.string() });

function openJobApi(store: string): Service {
  const db = new Database(store);
  db.pragma('synchronous = FULL');
  db.exec(TABLES);
  const asks: string[] = [];
  const handler = async (call: HttpCall) => answered({ db, asks }, call);
  return { aimOf, handler, close: () => db.close() };
}

interface Api {
  readonly db: Database.Database;
  readonly asks: string[];
}

function answered({ db, asks }: Api, call: HttpCall): HttpAnswer {
  const [head = '', name, verb] = call.path;
  const jobs = (where: string, ...of: readonly string[]) =>
    db.prepare(`${COLUMNS} ${where}`).all(...of) as Job[];
  switch (`${call.method} ${[head, name && '*', verb].filter(Boolean).join('/')}`) {
    case 'POST jobs':
      return submitted(db, call);
    case 'GET jobs/*': {
      asks.push(`jobs/${name}`);
      const [job] = jobs('WHERE id = ?', name ?? '');
      return job === undefined ? json(404, {}) : json(200, job);
    }
    case 'GET references/*/jobs':
      asks.push(`references/${name}`);
      return json(200, { jobs: jobs('WHERE client_reference = ?', name ?? '') });
    case 'GET jobs':
      return json(200, { jobs: jobs('') });
    case 'GET asks':
      return json(200, { asks });
    case 'POST jobs/*/finish':
      db.prepare("UPDATE job SET status = 'done', result = report || ' is ready' WHERE id = ?").run(
        name,
      );
      return json(200, {});
    default:
      return json(404, {});
  }
}

function submitted(db: Database.Database, call: HttpCall): HttpAnswer {
  const job = readBody(call.body, jobSchema);
  if (job.kind === 'invalid') return json(400, { code: 'invalid', message: job.detail });
  const { client_reference, report } = job.value;
  const insert = 'INSERT INTO job (client_reference, report) VALUES (?, ?)';
  const { lastInsertRowid } = db.prepare(insert).run(client_reference, report);
  return json(202, { id: `job-${lastInsertRowid}`, status: 'running' });
}

function aimOf({ method, path, body }: HttpCall): Aim | null {
  const [head, name = '', verb] = path;
  if (method === 'POST' && head === 'jobs' && path.length === 1)
    return { kind: 'execute', operation: 'submit', key: body.toString('utf8') };
  if (method !== 'GET' || name === '') return null;
  if (head === 'references' && verb === 'jobs')
    return { kind: 'inquire', operation: 'find', key: name };
  return head === 'jobs' ? { kind: 'inquire', operation: 'status', key: name } : null;
}

await runService(openJobApi);
