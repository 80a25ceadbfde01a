import { describe, expect, test } from 'vitest';
import { ConfigError, clientConfigFrom, configFrom } from '../../core/config.ts';
import { type ConfigRow, configTable } from '../../core/config-table.ts';
import { limits } from '../../core/limits.ts';
import { configPage } from '../support/config-page.ts';

const needed = {
  HOLDFAST_INSTALLATION: 'shop',
  HOLDFAST_LEDGER_URL: 'sqlite:/var/lib/holdfast/ledger.db',
};

const model = {
  HOLDFAST_MODEL_PROVIDER: 'openai-compatible',
  HOLDFAST_MODEL_BASE_URL: 'http://127.0.0.1:11434/v1',
  HOLDFAST_MODEL_NAME: 'small',
};

const prices = {
  date: '2026-11-01',
  currency: 'USD',
  models: { small: { inputMicrosPerMillion: 3_000_000, outputMicrosPerMillion: 15_000_000 } },
};

function refusalOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

function namesOf(env: Record<string, string | undefined>): string[] {
  return refusalOf(() => configFrom({ ...needed, ...env })).problems.map((p) => p.name);
}

describe('configuration', () => {
  test('R-142 with what is needed and nothing else, defaults are the stated limits', () => {
    expect(configFrom({ ...needed, PATH: '/bin' })).toEqual({
      address: '127.0.0.1:7233',
      namespace: 'default',
      tls: null,
      apiKey: null,
      installation: 'shop',
      ledger: { kind: 'sqlite', path: '/var/lib/holdfast/ledger.db' },
      queues: {
        runs: 'holdfast-runs',
        actions: 'holdfast-actions',
        inquiries: 'holdfast-inquiries',
      },
      timeouts: {
        startToCloseMs: limits.startToCloseMs,
        heartbeatTimeoutMs: limits.heartbeatTimeoutMs,
        scheduleToStartMs: limits.scheduleToStartMs,
        barrierWaitMs: limits.barrierWaitMs,
        sendWindowMs: limits.sendWindowMs,
        shutdownGraceMs: limits.shutdownGraceMs,
      },
      model: { provider: 'none' },
      modelMaxOutputTokens: limits.modelOutputTokensMax,
      prices: null,
      registerSearchAttributes: true,
      logLevel: 'info',
      cacheDir: null,
      createLedger: false,
      toolsPath: null,
    });
  });

  test('every row set to a good value reaches the configuration', () => {
    const config = configFrom({
      ...needed,
      ...model,
      HOLDFAST_ADDRESS: '[::1]:7234',
      HOLDFAST_TLS: 'on',
      HOLDFAST_TLS_CA: '/ca.pem',
      HOLDFAST_TLS_CERT: '/cert.pem',
      HOLDFAST_TLS_KEY: '/key.pem',
      HOLDFAST_TLS_SERVER_NAME: 'temporal.example.com',
      HOLDFAST_API_KEY: 'secret',
      HOLDFAST_MODEL_API_KEY_ENV: 'MODEL_KEY',
      HOLDFAST_TASK_QUEUE_PREFIX: 'blue',
      HOLDFAST_REGISTER_SEARCH_ATTRIBUTES: 'off',
      HOLDFAST_CACHE: '/cache',
      HOLDFAST_MODEL_MAX_OUTPUT_TOKENS: '512',
      HOLDFAST_PRICES: JSON.stringify(prices),
      MODEL_KEY: 'k',
    });
    expect(config).toMatchObject({
      address: '[::1]:7234',
      tls: {
        caPath: '/ca.pem',
        certPath: '/cert.pem',
        keyPath: '/key.pem',
        serverName: 'temporal.example.com',
      },
      apiKey: 'secret',
      queues: { runs: 'blue-runs' },
      model: {
        provider: 'openai-compatible',
        baseURL: 'http://127.0.0.1:11434/v1',
        name: 'small',
        apiKeyEnv: 'MODEL_KEY',
      },
      registerSearchAttributes: false,
      cacheDir: '/cache',
      modelMaxOutputTokens: 512,
      prices,
    });
  });

  test('a client may do without installation and ledger, a worker may not', () => {
    expect(clientConfigFrom({})).toMatchObject({ installation: null, ledger: null });
    const { problems } = refusalOf(() => configFrom({}));
    expect(problems.map((p) => p.name)).toEqual(Object.keys(needed));
    expect(refusalOf(() => clientConfigFrom({ HOLDFAST_TLS: 'yes' })).problems).toHaveLength(1);
  });

  test('all bad rows are named in one refusal, each with what to do', () => {
    const error = refusalOf(() =>
      configFrom({ HOLDFAST_ADDRESS: 'nowhere', HOLDFAST_TLS: 'yes', HOLDFAST_ADRESS: 'x:1' }),
    );
    expect(error.problems.map((p) => p.name)).toEqual([
      'HOLDFAST_ADRESS',
      'HOLDFAST_ADDRESS',
      'HOLDFAST_TLS',
      'HOLDFAST_INSTALLATION',
      'HOLDFAST_LEDGER_URL',
    ]);
    for (const { name, problem, todo } of error.problems)
      expect(error.message).toContain(`${name} ${problem}: ${todo}`);
  });

  test('an unknown HOLDFAST_ variable is refused: a misspelling is no silent default', () => {
    expect(namesOf({ HOLDFAST_NAMESPCE: 'prod' })).toEqual(['HOLDFAST_NAMESPCE']);
    expect(configFrom({ ...needed, HOLDFAST_NAMESPCE: undefined })).toBeDefined();
  });

  test('R-132 a table of prices is refused by field, without its values', () => {
    const models = { small: { inputMicrosPerMillion: 'three', outputMicrosPerMillion: 1 } };
    const wrong = JSON.stringify({ ...prices, models });
    const { message } = refusalOf(() => configFrom({ ...needed, HOLDFAST_PRICES: wrong }));
    expect(message).toMatch(/HOLDFAST_PRICES is no table of prices: at models\.small\.input/);
    expect(message).not.toContain('three');
  });

  test('a refusal quotes no value, because values may be secrets', () => {
    const error = refusalOf(() => configFrom({ ...needed, HOLDFAST_API_KEY: ' s3cret' }));
    expect(error.message).not.toContain('s3cret');
  });

  test.each([
    ['HOLDFAST_ADDRESS', '127.0.0.1'],
    ['HOLDFAST_ADDRESS', 'http://127.0.0.1:7233'],
    ['HOLDFAST_ADDRESS', ''],
    ['HOLDFAST_NAMESPACE', 'a/b'],
    ['HOLDFAST_INSTALLATION', 'a/b'],
    ['HOLDFAST_TLS', 'true'],
    ['HOLDFAST_TASK_QUEUE_PREFIX', 'a b'],
    ['HOLDFAST_START_TO_CLOSE_MS', '60s'],
    ['HOLDFAST_START_TO_CLOSE_MS', '-1'],
    ['HOLDFAST_HEARTBEAT_TIMEOUT_MS', '0'],
    ['HOLDFAST_SCHEDULE_TO_START_MS', '2147483648'],
    ['HOLDFAST_MODEL_API_KEY_ENV', 'not a name'],
    ['HOLDFAST_LOG_LEVEL', 'verbose'],
    ['HOLDFAST_MODEL_MAX_OUTPUT_TOKENS', '0'],
    ['HOLDFAST_MODEL_MAX_OUTPUT_TOKENS', '4k'],
    ['HOLDFAST_PRICES', 'prices.json'],
    ['HOLDFAST_PRICES', '{"date":"2026-11-01","currency":"USD"}'],
    ['HOLDFAST_LEDGER_URL', 'sqlite:relative.db'],
    ['HOLDFAST_LEDGER_URL', 'sqlite://host/file.db'],
    ['HOLDFAST_LEDGER_URL', '/var/ledger.db'],
  ])('%s=%j is refused by name', (name, value) => {
    expect(namesOf({ [name]: value })).toEqual([name]);
  });

  test.each(['not a url', 'ftp://host/v1', 'http://user:pass@host/v1'])(
    'the model service %j is refused',
    (url) => {
      expect(namesOf({ ...model, HOLDFAST_MODEL_BASE_URL: url })).toContain(
        'HOLDFAST_MODEL_BASE_URL',
      );
    },
  );

  test('a ledger scheme that is not built is named as such', () => {
    const error = refusalOf(() =>
      configFrom({ ...needed, HOLDFAST_LEDGER_URL: 'postgres://db/ledger' }),
    );
    expect(error.message).toContain('scheme "postgres:"; only sqlite:/absolute/path is known');
  });

  test.each([
    ['TLS files without TLS', { HOLDFAST_TLS_CA: '/ca.pem' }, 'HOLDFAST_TLS'],
    ['an API key without TLS', { HOLDFAST_API_KEY: 'k' }, 'HOLDFAST_API_KEY'],
    [
      'a certificate without its key',
      { HOLDFAST_TLS: 'on', HOLDFAST_TLS_CERT: '/c.pem' },
      'HOLDFAST_TLS_CERT',
    ],
    [
      'a heartbeat longer than the attempt',
      { HOLDFAST_HEARTBEAT_TIMEOUT_MS: '60001' },
      'HOLDFAST_HEARTBEAT_TIMEOUT_MS',
    ],
    [
      'a provider without a model',
      { HOLDFAST_MODEL_PROVIDER: 'openai-compatible' },
      'HOLDFAST_MODEL_PROVIDER',
    ],
    ['a model without a provider', { HOLDFAST_MODEL_NAME: 'm' }, 'HOLDFAST_MODEL_PROVIDER'],
    [
      'a key variable that is not set',
      { ...model, HOLDFAST_MODEL_API_KEY_ENV: 'NO_SUCH_KEY' },
      'HOLDFAST_MODEL_API_KEY_ENV',
    ],
  ])('%s is refused', (_title, env, name) => {
    expect(namesOf(env)).toEqual([name]);
  });

  test('every default passes its own check, and names are unique and prefixed', () => {
    const rows = Object.values<ConfigRow>(configTable);
    for (const row of rows) {
      expect(row.env).toMatch(/^HOLDFAST_[A-Z_]+$/);
      if (row.fallback !== null) expect(row.schema.safeParse(row.fallback).success).toBe(true);
    }
    expect(new Set(rows.map((row) => row.env)).size).toBe(rows.length);
  });

  test('docs/configuration.md is the table (write it anew with vitest -u)', async () => {
    await expect(configPage()).toMatchFileSnapshot('../../docs/configuration.md');
  });
});
