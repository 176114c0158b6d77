// The costly cases of `make test` as data: which files each of them proves, and what is played of it when none of these
// changed. A path is matched by https://nodejs.org/api/path.html#pathmatchesglobpath-pattern; one that no list of this file
// knows makes every case due.
import { apiServer, packages, previews, runtime } from './areas.ts'
import { singleFiles } from './single-files.ts'

export type Proof = {
  /** Its name in SEKISHO_LONG (test/fixtures/form.ts) and in the lines of a run. */
  readonly name: string
  /** What is played when nothing of it changed: its short form, or nothing. */
  readonly unchanged: 'short' | 'leave out'
  readonly proves: readonly string[]
  /** Files of tests: what they use below `test` counts, too (used-files.ts). So it does of `file`. */
  readonly tests?: readonly string[]
  /** The part of `make test-long` that plays its long form, and whose record says since when nothing of it changed. */
  readonly part: string
  /** Of what is played when something changed, on a quiet machine; an estimate until the part has a record. */
  readonly longSeconds: number
  /** The file of tests that is left out, or the stages. */
  readonly file?: string
  readonly stages?: readonly string[]
}

export const proofs: readonly Proof[] = [
  {
    name: 'matrix',
    unchanged: 'short',
    proves: ['src/admission/**', 'src/api/**', 'deploy/{policies,crds}/**', 'test/attack/**', ...apiServer],
    part: 'admission-and-previews',
    longSeconds: 190,
  },
  {
    name: 'preview-deletion',
    unchanged: 'short',
    proves: [
      ...previews,
      'src/controllers/{application,remote-sync}/**',
      ...runtime,
      'test/integration/preview-deletion.test.ts',
    ],
    part: 'admission-and-previews',
    longSeconds: 240,
  },
  {
    name: 'preview-invariant',
    unchanged: 'short',
    proves: [
      ...previews,
      'src/controllers/{application,remote-sync}/**',
      ...runtime,
      'test/integration/preview-invariant.test.ts',
    ],
    part: 'admission-and-previews',
    longSeconds: 230,
  },
  {
    name: 'preview-services',
    unchanged: 'short',
    proves: [...previews, 'src/data-services/**', 'src/api/services/**', 'src/controllers/service-records/**', ...runtime],
    tests: ['test/integration/preview-services.test.ts'],
    part: 'admission-and-previews',
    longSeconds: 200,
  },
  {
    name: 'github-faults',
    unchanged: 'short',
    proves: [
      ...previews,
      'src/broker/{previews,webhooks}/**',
      'src/github/**',
      'src/controllers/{*.ts,kit/**}',
      'src/controllers/{github-report,remote-sync}/**',
      'dev/github/faults/**',
      'test/integration/{preview-approval-faults,preview-report-faults,preview-doubt,pull-requests}.test.ts',
    ],
    part: 'github-faults',
    longSeconds: 220,
  },
  {
    name: 'replicas',
    unchanged: 'short',
    proves: [
      'src/process/**',
      'src/{broker,controllers,admission}/{main,app}.ts',
      'deploy/production/**',
      'test/e2e/replicas.test.ts',
    ],
    part: 'attacks',
    longSeconds: 110,
  },
  {
    name: 'given-cluster-up',
    unchanged: 'leave out',
    proves: ['dev/{up,kpack}/**', 'dev/images/{registry,image}/**', 'deploy/**', ...apiServer],
    part: 'github-faults',
    longSeconds: 140,
    file: 'test/integration/given-cluster-up.test.ts',
  },
  {
    name: 'reinstall',
    unchanged: 'short',
    proves: [
      ...packages,
      'src/broker/{onboarding,webhooks}/**',
      'src/controllers/{installation,repository-grant,tenant}/**',
      'src/services/token-desk/**',
      'src/github/**',
      'src/api/github/**',
      'dev/demo/**',
    ],
    tests: ['test/e2e/reinstall.test.ts'],
    part: 'applications',
    longSeconds: 400,
  },
  {
    name: 'first-application',
    unchanged: 'leave out',
    proves: [
      ...packages,
      'docs/guide/{first-application,cli}.md',
      'src/{cli,broker,services/builds}/**',
      'src/controllers/{application,remote-sync}/**',
      'src/api/apps/**',
      'bin/**',
      'dev/{demo,command-line,images}/**',
    ],
    part: 'applications',
    longSeconds: 90,
    file: 'test/e2e/first-application.test.ts',
  },
  ...singleFiles,
  {
    name: 'standalone',
    unchanged: 'leave out',
    proves: [
      ...packages,
      'src/standalone.ts',
      'src/{process,store,web}/**',
      'src/{broker,controllers,admission}/{main,app,config}.ts',
      'src/data-services/**',
      'src/object-store/**',
      'src/services/network-probe/**',
      'src/services/node-check/**',
      'prisma/**',
      'deploy/{base,standalone,rbac}/**',
      'Dockerfile',
      'dev/{up,postgres,versitygw,images}/**',
    ],
    part: 'standalone',
    longSeconds: 110,
    stages: ['start the platform (standalone)', 'demo (standalone, the main job)'],
  },
]

/** Of data services, what none of its controllers has for itself. */
const dataServices: readonly string[] = [
  'src/data-services/{*.ts,adapters/*.ts}',
  'src/data-services/{credentials,proofs,providers,slots}/**',
  'test/sweep/scenarios/services.ts',
]
const databases: readonly string[] = [
  ...dataServices,
  'src/data-services/adapters/postgresql/**',
  'test/sweep/scenarios/databases.ts',
]
const buckets: readonly string[] = [
  ...dataServices,
  'src/data-services/adapters/s3/**',
  'src/object-store/**',
  'test/sweep/scenarios/buckets.ts',
]

/**
 * What the crash points of scenarios prove, by a controller that they cover, or by what their name begins with until its colon.
 * When something of it changed, all points of the short form are played instead of some.
 */
export const crashPoints: Readonly<Record<string, readonly string[]>> = {
  application: ['src/controllers/application/**'],
  'app-pipeline': ['src/controllers/app-pipeline/**'],
  'app-secret': ['src/controllers/app-secret/**', 'src/identity/sealed-values/**'],
  'application-chart': ['src/controllers/application-chart/**', 'src/services/charts/**'],
  'broker-halt': ['src/broker/people/halt*'],
  'broker-onboarding': ['src/broker/onboarding/**'],
  bucket: ['src/data-services/bucket/**', ...buckets],
  'bucket-records': ['src/controllers/service-records/**'],
  'cluster-github-app': ['src/controllers/cluster-github-app/**'],
  'cluster-grant-policy': ['src/controllers/grant-policy/**'],
  database: databases,
  'domain-claim': ['src/controllers/domain-claim/**', 'src/controllers/application/domains/**'],
  'github-report': ['src/controllers/github-report/**'],
  'grant-approval': ['src/controllers/grant-approval/**', 'src/policy/grants/**'],
  'grant-policy': ['src/controllers/grant-policy/**', 'src/policy/grants/**'],
  halt: ['src/controllers/halt/**', 'src/services/token-desk/**'],
  installation: ['src/controllers/installation/**', 'src/services/token-desk/**'],
  'preview-approval': ['src/controllers/preview-approval/**', 'src/broker/{previews,webhooks}/**'],
  'remote-sync': ['src/controllers/remote-sync/**', 'src/services/builds/**'],
  'repository-grant': ['src/controllers/repository-grant/**', 'src/policy/**', 'src/services/token-desk/**'],
  'service-binding': ['src/data-services/service-binding/**', ...dataServices],
  'service-binding-records': ['src/controllers/service-records/**'],
  'service-class': ['src/data-services/service-class/**', ...dataServices],
  'service-instance': ['src/data-services/service-instance/**', ...databases],
  'service-instance-records': ['src/controllers/service-records/**'],
  'service-proxy': ['src/controllers/service-proxy/**'],
  tenant: ['src/controllers/tenant/**', 'src/services/token-desk/**'],
  'token desk': ['src/services/token-desk/**'],
  'unused images': ['src/services/{followed-tags,image-cleanup,registry}/**'],
  'webhook inbox': ['src/broker/webhooks/**', 'src/store/inbox/**'],
}

/** Of every crash point. A scenario counts for what it covers (used-files.ts). */
export const allCrashPoints: readonly string[] = [
  'src/kube/{cache,client,controller,object,queue}/**',
  'src/kube/manager.ts',
  'src/controllers/{*.ts,kit/**}',
  'test/sweep/{*.ts,{assertions,environment,subject}/**}',
  ...packages,
]
export const crashParts: readonly string[] = ['crashes-1', 'crashes-2', 'crashes-3', 'crashes-4']

/** What no costly case proves, because everything else that `make test` always plays does. */
export const provenElsewhere: readonly string[] = [
  'src/{lib,api,identity,policy,store,retention,web,services,cli,broker,data-services,object-store,kube,github,process}/**',
  'src/controllers/**',
  'dev/{attack,bootstrap,buildkit,check,cluster,generate,github,inner-loop,postgres,test,versitygw}/**',
  'dev/{command-line,demo,images,kpack,up}/**',
  'test/{attack,bench,browser,e2e,faults,fixtures,integration,platform,proxies,rights,server,soak,sweep/scenarios}/**',
  'deploy/**',
  'prisma/**',
  '.ci/**',
  '{package.json,tsconfig.json,vitest.config.ts,biome.json,knip.jsonc,Makefile,Dockerfile}',
  '{.dependency-cruiser.cjs,.dockerignore,.gitignore,.npmrc}',
]

/** No test of the product reads them, but for what a case names. */
export const harmless: readonly string[] = ['docs/**', '*.md', 'LICENSE']
