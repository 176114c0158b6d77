// What `make test` runs, as data: first what needs nothing, then two lanes side by side, because each of them mostly waits:
// one for controllers on a temporary control plane, the other for pods, builds and rollouts; then what needs the machine for
// itself.

/** One program of this repository, run to its end. */
export type Stage = {
  readonly title: string
  /**
   * How many seconds it may take on a quiet machine with two processors and all programs in the cache, when all of it is
   * played. One that takes longer is named, and passes.
   */
  readonly budget: number
  /** The arguments of Node.js. */
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Of Vitest: what it runs all files of. */
  readonly projects?: readonly string[]
  /** When it fails, the stages after it are left out: they could only fail. */
  readonly isNeeded?: true
  /** It repeats what failed by itself: its files are not run again. */
  readonly repeatsItself?: true
}

/** Stages in the order in which they run. */
export type Lane = readonly Stage[]

/** The arguments with which Vitest runs these projects, or these files of them, and leaves its record (outcome-reporter.ts). */
export function vitestArguments(projects: readonly string[], files: readonly string[] = []): readonly string[] {
  const options = [
    ...projects.map(name => `--project=${name}`),
    ...['default', './dev/test/vitest/outcome-reporter.ts'].map(name => `--reporter=${name}`),
  ]
  return ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files]
}

export function vitest(title: string, budget: number, ...projects: readonly string[]): Stage {
  return { title, budget, projects, args: vitestArguments(projects) }
}

/** What needs no program of the cluster: beside each other, because neither uses all processors. */
export const first: Lane = [
  { title: 'checks', budget: 60, args: ['dev/check/main.ts'] },
  vitest('unit tests', 280, 'pure', 'unit'),
]

/**
 * Nothing on a machine that has them. Before the lanes, whose tests wait for seconds: compilers beside them take all
 * processors for minutes.
 */
export const programs: Lane = [
  { title: 'programs of the local cluster', budget: 10, args: ['dev/cluster/main.ts', 'build'], isNeeded: true },
]

/** No pods: the temporary control plane is one for all, so these run one after the other. */
export const controlPlane: Lane = [
  vitest('tests of programs (databases, registries, a browser)', 130, 'programs'),
  vitest('integration tests (API server, databases)', 1300, 'integration'),
  vitest('fault tests (failing GitHub, API server, database and network)', 130, 'faults'),
  { ...vitest('crash tests (controllers killed before and after every write)', 1000, 'sweep'), repeatsItself: true },
]

/**
 * At the end: what all asked for. `auditLogs` are those of the local cluster. Some of the rights may be for what was left
 * out.
 */
export const rightsOf = (auditLogs: readonly string[], leavesOut = false): Lane => [
  {
    title: 'rights of the platform (what the suites used)',
    budget: 15,
    args: ['test/rights/main.ts', ...(leavesOut ? ['--some'] : []), ...auditLogs],
  },
]

export const up = (mode: string): Stage => ({
  title: `start the platform (${mode})`,
  budget: 100,
  args: ['dev/up/main.ts', 'up', '--no-demo'],
  environment: { MODE: mode },
  isNeeded: true,
})
const update: Stage = { title: 'update the platform', budget: 60, args: ['dev/up/main.ts', 'up', '--no-demo'], isNeeded: true }
export const demo: Stage = { title: 'demo', budget: 520, args: ['dev/demo/main.ts'] }
const mainJob: Stage = { title: 'demo (standalone, the main job)', budget: 50, args: [...demo.args, '--main-job'] }
export const attacks: Stage = { title: 'attacks (the short form)', budget: 130, args: ['dev/attack/main.ts', '--short'] }
const pods = vitest('end-to-end tests (pods)', 465, 'e2e')
export const replicas = vitest('end-to-end tests (replicas under load)', 60, 'replicas')

/**
 * What runs beside the control plane's lane, what afterwards runs alone, and what needs another form of the platform than
 * those.
 */
export type PlatformLanes = { readonly beside: Lane; readonly alone: Lane; readonly otherForm: Lane }

/** On a platform that ran before: it is tested in the form that it has. */
export const runningPlatform: PlatformLanes = { beside: [update, demo, attacks, pods], alone: [replicas], otherForm: [] }

/**
 * Everything in the production form; of the standalone form that it starts, takes over and does the main job, which `make
 * demo` plays in full.
 */
export const bothForms: PlatformLanes = {
  beside: [up('production'), demo, attacks, pods],
  alone: [replicas],
  otherForm: [up('standalone'), mainJob],
}
