// Workflow bundles, kept in the cache: a worker restarted after a crash must not wait for webpack.
//
// Owns: `<cache>/bundles`: `<digest of code>.js`, and `<digest of request>.json` that names, for
// one request, the code and every file it was made from with its digest.
// INV-1 A bundle is used only while it and every file it was made from are unchanged; what cannot
//       be read as it was written (a power cut) is made anew.
// INV-2 Files reach their names by rename, so racing processes see whole files or none.

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import * as z from 'zod';
import { limits } from '../core/limits.ts';
import { cacheDirOf } from './cache-dir.ts';
import { sdkVersion } from './sdk-version.ts';

export interface BundleRequest {
  /** File that exports the workflows. */
  readonly workflowsPath: string;
  /** File whose `payloadConverter` the workflows use. Default: the tolerant one of this package. */
  readonly payloadConverterPath?: string;
  /** Files that export `interceptors` for the workflows, e.g. for tracing. Default: none. */
  readonly interceptorPaths?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** As `Worker.create({ workflowBundle })` takes it. */
export interface WorkflowBundle {
  readonly codePath: string;
}

const manifestSchema = z.object({ code: z.string(), files: z.record(z.string(), z.string()) });
const manifestText = z.string().transform((text, context) => {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch {
    // Whatever is wrong with it: the cache is made again, nothing is lost.
    context.addIssue({ code: 'custom', message: 'not a manifest' });
    return z.NEVER;
  }
});

/** Throws what the bundler says when the workflows cannot be bundled (e.g. a forbidden import). */
export async function bundleWorkflows(request: BundleRequest): Promise<WorkflowBundle> {
  const directory = join(cacheDirOf(request.env ?? process.env), 'bundles');
  await mkdir(directory, { recursive: true });
  const { workflowsPath, interceptorPaths = [] } = request;
  const payloadConverterPath =
    request.payloadConverterPath ?? packageFile(import.meta.url, '../workflows/payload-converter');
  const arrivalsPath = packageFile(import.meta.url, '../workflows/arrivals');
  const whole = {
    ...{ workflowsPath, payloadConverterPath },
    interceptorPaths: [arrivalsPath, ...interceptorPaths],
  };
  // A bundle fits only the SDK that made it.
  const key = digest(JSON.stringify([sdkVersion, whole]));
  const manifestPath = join(directory, `${key}.json`);
  return (await kept(manifestPath, directory)) ?? (await make(whole, manifestPath, directory));
}

/** A file of this package beside or above the caller, as source or as built. */
export function packageFile(caller: string, relative: string): string {
  const extension = caller.endsWith('.ts') ? '.ts' : '.js';
  return fileURLToPath(new URL(`${relative}${extension}`, caller));
}

async function kept(manifestPath: string, directory: string): Promise<WorkflowBundle | null> {
  const text = await readFile(manifestPath, 'utf8').catch(nullIfMissing);
  const manifest = manifestText.safeParse(text);
  if (!manifest.success) return null;
  const codePath = join(directory, `${manifest.data.code}.js`);
  const files = { ...manifest.data.files, [codePath]: manifest.data.code };
  for (const [path, then] of Object.entries(files)) {
    const bytes = await readFile(path).catch(nullIfMissing);
    if (bytes === null || digest(bytes) !== then) return null;
  }
  const now = new Date();
  // `forgetOld` goes by this time; when it came first, the bundle is made anew.
  const used = await Promise.all([codePath, manifestPath].map((path) => touched(path, now)));
  return used.every((there) => there) ? { codePath } : null;
}

async function touched(path: string, now: Date): Promise<boolean> {
  return (await utimes(path, now, now).then(() => true, nullIfMissing)) === true;
}

async function make(
  { workflowsPath, payloadConverterPath, interceptorPaths }: Required<Omit<BundleRequest, 'env'>>,
  manifestPath: string,
  directory: string,
): Promise<WorkflowBundle> {
  const begunMs = Date.now();
  const inputs = new Set<string>();
  const said: string[] = [];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules: [...interceptorPaths],
    logger: errorCollector(said),
    webpackConfigHook: (config) => ({
      ...config,
      plugins: [...(config.plugins ?? []), inputCollector(inputs)],
    }),
  }).catch((cause: unknown) => {
    const why = [...said, String(cause)].join('\n').slice(0, limits.noteCharsMax);
    throw new Error(`workflows in ${workflowsPath} cannot be bundled: ${why}`, { cause });
  });
  const codeDigest = digest(code);
  const codePath = join(directory, `${codeDigest}.js`);
  await place(codePath, code);
  const files = await digestsOf(inputs, begunMs);
  if (files !== null) await place(manifestPath, JSON.stringify({ code: codeDigest, files }));
  await forgetOld(directory);
  return { codePath };
}

/** Null when a file changed while webpack ran: nobody knows which version the bundle has. */
async function digestsOf(
  inputs: ReadonlySet<string>,
  begunMs: number,
): Promise<Record<string, string> | null> {
  const files: Record<string, string> = {};
  for (const path of inputs) {
    const status = await stat(path).catch(nullIfMissing);
    if (status === null || !status.isFile()) continue;
    if (status.mtimeMs >= begunMs) return null;
    files[path] = digest(await readFile(path));
  }
  return files;
}

interface Compiler {
  readonly hooks: {
    readonly done: { tap(name: string, done: (stats: CompilerStats) => void): void };
  };
}
interface CompilerStats {
  readonly compilation: { readonly fileDependencies: Iterable<string> };
}

function inputCollector(inputs: Set<string>) {
  return {
    apply(compiler: Compiler) {
      compiler.hooks.done.tap('holdfast-inputs', ({ compilation }) => {
        for (const path of compilation.fileDependencies) inputs.add(path);
      });
    },
  };
}

async function place(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.part`;
  await writeFile(draft, content);
  await rename(draft, path);
}

async function forgetOld(directory: string): Promise<void> {
  const oldest = Date.now() - limits.bundleCacheMs;
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const status = await stat(path).catch(nullIfMissing);
    if (status !== null && status.mtimeMs < oldest) await rm(path, { force: true });
  }
}

function digest(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** The bundler's error says nothing; webpack's reasons go to its log. The rest is about sizes. */
function errorCollector(said: string[]) {
  const nothing = () => undefined;
  const error = (message: string) => void said.push(message);
  const quiet = { trace: nothing, debug: nothing, info: nothing, warn: nothing };
  return { ...quiet, error, log: nothing };
}
