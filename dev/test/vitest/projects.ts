// Which project of Vitest a file of tests belongs to. What it imports decides, so nobody keeps a list of tests: one that begins
// to use a process, a server, a database or a control plane changes its project by itself. dev/test/vitest/pure-guard.ts fails
// a pure test that reaches further than is seen here.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createImports, type Imports } from './imports.ts'

/** The files of tests of each project that is told apart by its imports, relative to the repository, in order. */
export type TestProjects = {
  /** Functions of their arguments: they share a thread and its modules with other files. */
  readonly pure: readonly string[]
  /** Alone in a process: what starts processes or servers, opens databases, or changes what the whole process sees. */
  readonly unit: readonly string[]
  /** Whole programs, PostgreSQL, registries, a browser; no control plane. */
  readonly programs: readonly string[]
  /** On the API server. */
  readonly integration: readonly string[]
  /** On the API server, which fails. */
  readonly faults: readonly string[]
}

/** What only a test with a process of its own may name, in its file or in the fixtures that it imports. */
const outside = [
  // Processes and sockets.
  /'node:(?:child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)'/,
  /\.listen\(/,
  // What the whole process sees, and what it uses as a whole.
  /\bvi\.(?:mock|doMock|hoisted|spyOn|stub|useFakeTimers)/,
  /\bprocess\.env\[[^\]]+\] (?:\?\?)?=[^=]|\bdelete process\.env/,
  /\bprocess\.(?:chdir|exit|kill|on|once|memoryUsage|cpuUsage)\b/,
]

/** Modules that start such things: a test that imports one of them itself, or by a fixture, does so. */
const starters = new Set([
  'dev/cluster/binaries/ensure-binary.ts',
  'dev/cluster/pki/authority.ts',
  'dev/cluster/run-command.ts',
  'dev/github/emulator.ts',
  'dev/images/buildpacks/shared/run-logged.ts',
  'dev/postgres/start-postgres.ts',
  'dev/test/calibration.ts',
  'dev/up/kubectl.ts',
  'dev/up/secrets/admission-certificate.ts',
  'src/kube/kubeconfig/kubeconfig.ts',
  'src/store/database/database.ts',
  'src/store/database/durable-folder.ts',
  'src/process/health.ts',
  'test/bench/harness/run-bench.ts',
  'test/fixtures/databases.ts',
  'test/fixtures/production-database.ts',
])

const unitTests = ['src/**/*.test.ts', 'dev/**/*.test.ts', 'test/{bench,fixtures,rights,soak}/**/*.test.ts']
const integrationTests = ['test/{integration,attack,browser}/**/*.test.ts']
const faultTests = ['test/{faults,proxies}/**/*.test.ts']

/** Sorts the files of tests of a checkout. Reads no file of the product but its tests. */
export function testProjects(repository: string): TestProjects {
  const imports = createImports(repository)
  const files = (patterns: readonly string[]): readonly string[] =>
    globSync(patterns, { cwd: repository, exclude: ['**/node_modules/**'] }).toSorted()
  const units = Object.groupBy(files(unitTests), file => (isPure(file, imports, repository) ? 'pure' : 'unit'))
  const [integration, faults] = [integrationTests, faultTests].map(patterns =>
    Object.groupBy(files(patterns), file => (needsControlPlane(file, imports) ? 'yes' : 'no')),
  )
  return {
    pure: units.pure ?? [],
    unit: units.unit ?? [],
    programs: [...(integration?.no ?? []), ...(faults?.no ?? [])],
    integration: integration?.yes ?? [],
    faults: faults?.yes ?? [],
  }
}

const isOfProduct = (file: string): boolean => file.startsWith('src/') && !isForTests(file)
const isForTests = (file: string): boolean => file.endsWith('.test.ts') || file.includes('/testing/') || file.startsWith('test/')

function isPure(file: string, imports: Imports, repository: string): boolean {
  const used = [...imports.reach(file, one => !isForTests(one)).keys()]
  return used.every(one => !starters.has(one) && (!isForTests(one) || !reachesOutside(join(repository, one))))
}

function reachesOutside(path: string): boolean {
  const text = readFileSync(path, 'utf8')
  return outside.some(pattern => pattern.test(text))
}

/** Everything that starts a control plane or is a client of one comes from one folder. */
function needsControlPlane(file: string, imports: Imports): boolean {
  return [...imports.reach(file, isOfProduct).keys()].some(one => one.startsWith('dev/cluster/control-plane/'))
}
