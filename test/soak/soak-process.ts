// A process of a soak run: with a reporter of its memory inside.
import { fileURLToPath } from 'node:url'
import { type PlatformProcess, type ProcessOptions, startPlatformProcess } from '../platform/platform-process.ts'

export type SoakProcess = Omit<PlatformProcess, 'ask'> & {
  /** Where it keeps its files. */
  readonly dataFolder: string
  /** Memory usage just after a garbage collection. Rejects when the process ends meanwhile. */
  readonly memory: () => Promise<NodeJS.MemoryUsage>
}

/** `program` is what follows `node`: options, and its program below the folder. */
type Options = Omit<ProcessOptions, 'command'> & { readonly program: readonly string[] }

const reporter = fileURLToPath(new URL('memory-reporter.ts', import.meta.url))

export async function startSoakProcess({ program, ...options }: Options): Promise<SoakProcess> {
  const command = [process.execPath, '--expose-gc', '--import', reporter, ...program] as const
  const { ask, ...started } = await startPlatformProcess({ ...options, command })
  return { ...started, dataFolder: options.environment['SEKISHO_DATA_FOLDER'] ?? '', memory: () => ask('memory') }
}
