// The memory of this process that is in use, for tests and benchmarks. Never used outside of them.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/**
 * In bytes, after two collections: memory of Buffers that the first one frees is counted until its sweep has ended, which the
 * second one waits for.
 */
export function memoryInUse(): NodeJS.MemoryUsage {
  collectGarbage()
  collectGarbage()
  return process.memoryUsage()
}
