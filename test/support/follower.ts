// A screen: starts a run, says so, and shows its end if it lives to see it. `FOLLOWED_GOAL` is the
// goal as JSON, the argument the run's id.

import { createClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';

const { env, argv } = process;
const [runId = ''] = argv.slice(2);
const client = await createClient({ config: clientConfigFrom(env) });
const goal = JSON.parse(env['FOLLOWED_GOAL'] ?? '');
const run = await client.start(runId, { goal, principal: { user: 'ada', workspace: 'w1' } });
process.stdout.write('FOLLOWS\n');
process.stdout.write(`${JSON.stringify(await run.result())}\n`);
await client.close();
