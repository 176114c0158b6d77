// What every git process of the source store gets: a closed environment, a configuration that switches off all that is not
// needed, and limits of the kernel. git reads packs that strangers made; the limits end it before it costs others anything.
// Source: https://git-scm.com/docs/git#_environment_variables , https://git-scm.com/docs/git-config , man prlimit(1), man
// getrlimit(2)
export type GitConfiguration = readonly (readonly [name: string, value: string])[]

const megabyte = 1_048_576

/** Bounds of one git process that the kernel enforces. They are inherited by what it starts. */
export const processLimits = {
  /**
   * Private memory (heap, stacks). Packs are mapped from files and do not count, so that it does not depend on the size of a
   * pack.
   */
  dataBytes: 256 * megabyte,
  /** All addresses, mapped packs included: a second bound for kernels that count private memory differently. */
  addressBytes: 2048 * megabyte,
  processorSeconds: 60,
  openFiles: 64,
} as const

/** The largest single piece of memory that git asks for (its own check, which names the cause in the error message). */
const largestAllocation = '128m'

/**
 * git's own caches, sized so that they stay far below `dataBytes`. Larger blobs are streamed and never held in memory as a
 * whole.
 */
const memoryConfiguration: GitConfiguration = [
  ['core.bigFileThreshold', '16m'],
  ['core.deltaBaseCacheLimit', '16m'],
  ['core.packedGitWindowSize', '16m'],
  ['core.packedGitLimit', '64m'],
  ['pack.threads', '1'],
  // What is served was packed by GitHub already: deltas are reused and never searched for.
  ['pack.window', '0'],
  ['pack.windowMemory', '32m'],
  ['pack.deltaCacheSize', '8m'],
]

/**
 * No program but git itself is started: no hook, helper, filter, monitor or maintenance; and no protocol is spoken to another
 * host.
 */
const closedConfiguration: GitConfiguration = [
  ['protocol.allow', 'never'],
  ['credential.helper', ''],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['transfer.fsckObjects', 'true'],
  ['transfer.bundleURI', 'false'],
  ['safe.bareRepository', 'explicit'],
  ['uploadpack.allowFilter', 'false'],
]

/** The whole environment of a git process: nothing of this process's own environment is in it. */
export function gitEnvironment(configuration: GitConfiguration): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_ALLOC_LIMIT: largestAllocation,
    // glibc reserves 64 MB of addresses for each thread's arena.
    MALLOC_ARENA_MAX: '1',
  }
  const all = [...closedConfiguration, ...memoryConfiguration, ...configuration]
  environment['GIT_CONFIG_COUNT'] = String(all.length)
  all.forEach(([name, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = name
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return environment
}

/**
 * The program and the arguments that run git under the limits. `fileBytes`: the largest file that it may write. The number of
 * processes is not limited here: the kernel counts those of all containers with the same user together.
 */
export function limitedGit(words: readonly string[], fileBytes: number): readonly [program: string, words: readonly string[]] {
  const { dataBytes, addressBytes, processorSeconds, openFiles } = processLimits
  return [
    'prlimit',
    [
      `--data=${dataBytes}`,
      `--as=${addressBytes}`,
      // The first value sends SIGXCPU, the second one ends a process that ignores it.
      `--cpu=${processorSeconds}:${processorSeconds + 5}`,
      `--fsize=${fileBytes}`,
      `--nofile=${openFiles}`,
      '--core=0',
      'git',
      ...words,
    ],
  ]
}
