// Eight projects: pure (functions of their arguments) and unit (no network but loopback), programs (whole programs, PostgreSQL,
// a browser), integration, faults and sweep (a real API server, started once), e2e and replicas (the running dev cluster).
// dev/test/vitest/projects.ts tells the first five apart.
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { calibrate } from './dev/test/calibration.ts'
import { FileSequencer } from './dev/test/vitest/file-sequencer.ts'
import { testProjects } from './dev/test/vitest/projects.ts'
import { limits, timeLimit } from './src/lib/waiting/limits.ts'
import { isLong, leftOutFiles } from './test/fixtures/form.ts'

// Before the limits of time below, which are multiplied by its factor.
calibrate(process.env)

const files = testProjects(import.meta.dirname)
const replicas = 'test/e2e/replicas.test.ts'

/** Only to repeat what a property found: most files of tests need no fast-check. */
const seed = process.env['SEKISHO_SEED'] === undefined ? [] : ['dev/test/vitest/replay-seed.ts']
/** For tests that start programs: what a run leaves is named and ended. Not for those on the dev cluster, which lives on. */
const setupFiles = ['test/fixtures/own-folder.ts', ...seed]
const runFolder = 'dev/test/own-folders/run-folder.ts'

/**
 * Each file of tests has a process of its own, and many start programs of this repository: what one has compiled, the next one
 * reads. Where Node.js keeps it by default. https://nodejs.org/api/module.html#module-compile-cache
 */
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'node-compile-cache')

/**
 * A worker that tests many files grows, and each start of git copies its page tables: with large pages that is a fifth less
 * work for the processors. Read by the C library of Linux.
 * https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html
 */
process.env['GLIBC_TUNABLES'] ??= 'glibc.malloc.hugetlb=1'

export default defineConfig({
  test: {
    sequence: { sequencer: FileSequencer },
    // The line that is printed of a failed test has what was wrong in it; by default it says `[ Array(1) ]`.
    chaiConfig: { truncateThreshold: 600 },
    projects: [
      {
        test: {
          name: 'pure',
          include: [...files.pure],
          setupFiles: ['dev/test/vitest/pure-guard.ts', ...seed],
          // Most of the time of a small file is its process and the modules that it loads: these files share both.
          pool: 'threads',
          isolate: false,
          maxWorkers: '100%',
          testTimeout: timeLimit(20_000),
        },
      },
      {
        test: {
          name: 'unit',
          setupFiles,
          globalSetup: [runFolder],
          include: [...files.unit],
          isolate: false,
          // Vitest's default leaves a processor idle: half of a small machine.
          maxWorkers: '100%',
          testTimeout: timeLimit(20_000),
          hookTimeout: timeLimit(60_000),
        },
      },
      {
        test: {
          name: 'programs',
          setupFiles,
          globalSetup: [runFolder],
          include: [...files.programs],
          testTimeout: timeLimit(180_000),
          hookTimeout: timeLimit(120_000),
          maxWorkers: isLong('faults') ? 1 : 2,
        },
      },
      {
        test: {
          name: 'integration',
          setupFiles,
          include: [...files.integration],
          exclude: [...leftOutFiles],
          globalSetup: [runFolder, 'test/fixtures/global-setup.ts'],
          // Files share one API server and nothing on it: each sees its own namespaces and cluster-scoped objects only. One for
          // each processor, and at most as many as one API server was tried with. A worker keeps what it has loaded: loading it
          // again for each file took a tenth of all processors.
          isolate: false,
          maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
          testTimeout: timeLimit(60_000),
          hookTimeout: timeLimit(120_000),
        },
      },
      {
        test: {
          name: 'faults',
          setupFiles,
          include: [...files.faults],
          globalSetup: [runFolder, 'test/fixtures/global-setup.ts'],
          testTimeout: timeLimit(180_000),
          hookTimeout: timeLimit(120_000),
          // Most of their time they wait, so two at a time, each with processes of its own. The long form makes the figures of
          // docs/reference/faults.md: one after the other, so that nothing stands beside what is measured.
          maxWorkers: isLong('faults') ? 1 : 2,
        },
      },
      {
        test: {
          name: 'sweep',
          setupFiles,
          include: ['test/sweep/**/*.test.ts'],
          globalSetup: [runFolder, 'test/fixtures/global-setup.ts'],
          // Only of all points together, which are one test: each has limits of its own, and what survived is told at the end.
          testTimeout: timeLimit(isLong('crashes') ? 5_400_000 : 2_400_000),
          hookTimeout: timeLimit(120_000),
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [replicas, ...leftOutFiles],
          testTimeout: timeLimit(180_000, limits.build),
          hookTimeout: timeLimit(300_000, limits.build),
          fileParallelism: false,
        },
      },
      // Its time limits are those of leases and rollouts on a machine that does nothing else.
      {
        test: {
          name: 'replicas',
          include: [replicas],
          testTimeout: timeLimit(180_000, limits.build),
          hookTimeout: timeLimit(300_000),
        },
      },
    ],
  },
})
