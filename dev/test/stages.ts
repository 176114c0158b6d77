// What `make test` runs, as data: first what needs nothing, then two lanes side by side, because each of them mostly waits: one for controllers on a
// temporary control plane, the other for pods, builds and rollouts; then what needs the machine for itself.

/** One program of this repository, run to its end. */
export type Stage = {
  readonly title: string
  /** The arguments of Node.js. */
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Stages in the order in which they run. */
export type Lane = readonly Stage[]

function vitest(title: string, ...projects: readonly string[]): Stage {
  const reporters = ['default', './dev/test/outcome-reporter.ts'].map(name => `--reporter=${name}`)
  const chosen = projects.flatMap(project => ['--project', project])
  return { title, args: ['node_modules/vitest/vitest.mjs', 'run', ...chosen, ...reporters] }
}

/** The cheap stages; the lanes start only after they have passed. */
export const first: Lane = [{ title: 'checks', args: ['dev/check/main.ts'] }, vitest('unit tests', 'pure', 'unit')]

/** Nothing on a machine that has them. Before the lanes, whose tests wait for seconds: compilers beside them take all processors for minutes. */
export const programs: Lane = [{ title: 'programs of the local cluster', args: ['dev/cluster/main.ts', 'build'] }]

/** No pods: the temporary control plane is one for all, so these run one after the other. */
export const controlPlane: Lane = [
  vitest('tests of programs (databases, registries, a browser)', 'programs'),
  vitest('integration tests (API server, databases)', 'integration'),
  vitest('fault tests (failing GitHub, API server, database and network)', 'faults'),
  vitest('crash tests (controllers killed before and after every write)', 'sweep'),
]

/** At the end: what all asked for. `auditLogs` are those of the local cluster. */
export const rightsOf = (auditLogs: readonly string[]): Lane => [
  { title: 'rights of the platform (what the suites used)', args: ['test/rights/main.ts', ...auditLogs] },
]

const up = (mode: string): Stage => ({
  title: `start the platform (${mode})`,
  args: ['dev/up/main.ts', 'up', '--no-demo'],
  environment: { MODE: mode },
})
const demo: Stage = { title: 'demo', args: ['dev/demo/main.ts'] }
const attacks: Stage = { title: 'attacks (the short form)', args: ['dev/attack/main.ts', '--short'] }
const pods = vitest('end-to-end tests (pods)', 'e2e')
const replicas = vitest('end-to-end tests (replicas under load)', 'replicas')

/** What runs beside the control plane's lane, and what afterwards runs alone. */
export type PlatformLanes = { readonly beside: Lane; readonly alone: Lane }

/** On a platform that ran before: it is tested in the form that it has. */
export const runningPlatform: PlatformLanes = {
  beside: [{ title: 'update the platform', args: ['dev/up/main.ts', 'up', '--no-demo'] }, demo, attacks, pods],
  alone: [replicas],
}

/** Everything in the production form; of the standalone form that it starts, takes over and does the main job, which `make demo` plays in full. */
export const bothForms: PlatformLanes = {
  beside: [up('production'), demo, attacks, pods],
  alone: [replicas, up('standalone'), { title: 'demo (standalone, the main job)', args: [...demo.args, '--main-job'] }],
}
