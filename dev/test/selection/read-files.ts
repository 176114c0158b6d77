// Which tests what is read, started or built by, and not imported from, a test, as data. A path that no line names and that
// no test imports affects everything.

/**
 * `pure`: pure tests. `small`: pure and unit tests. `platform`: what runs on pods. A path: files of tests. `nothing`: the
 * checks, which always run.
 */
export type Affects = 'everything' | 'pure' | 'small' | 'platform' | 'nothing' | `test/${string}` | `src/${string}`

export type ReadFiles = { readonly files: string; readonly affects: readonly Affects[] }

/** All lines that match count. */
export const readFiles: readonly ReadFiles[] = [
  // How everything runs.
  { files: '{package.json,package-lock.json,.node-version,.npmrc,tsconfig.json,vitest.config.ts}', affects: ['everything'] },
  { files: '{dev/bootstrap,dev/test/vitest,dev/test/own-folders,prisma,.ci}/**', affects: ['everything'] },
  { files: 'test/fixtures/{global-setup,test-server,leftovers,cluster-objects,own-folder,form}.ts', affects: ['everything'] },
  { files: 'dev/cluster/modules/**', affects: ['everything'] },
  { files: 'dev/test/{main,shells,long/main}.ts', affects: ['small'] },
  { files: '{dev/check,dev/inner-loop}/**', affects: ['nothing'] },
  { files: '{biome.json,knip.jsonc,.dependency-cruiser.cjs,.gitignore,LICENSE,Makefile}', affects: ['nothing'] },
  // Manifests: applied by the fixtures, compared with what is generated, and installed on pods.
  { files: 'deploy/{base,crds,policies,rbac,production,standalone,source-store,postgres}/**', affects: ['everything'] },
  {
    files: 'deploy/authorizer/**',
    affects: ['pure', 'platform', 'test/attack/authorizer.test.ts', 'test/integration/forms.test.ts'],
  },
  { files: 'deploy/monitoring/**', affects: ['pure', 'test/integration/monitoring.test.ts'] },
  { files: 'deploy/examples/**', affects: ['pure', 'platform', 'test/integration/**'] },
  { files: '{Dockerfile,.dockerignore}', affects: ['pure', 'platform'] },
  { files: 'bin/**', affects: ['small', 'platform', 'test/integration/**'] },
  // Documentation: no test of the project unit reads any (read-files.test.ts).
  {
    files: 'docs/guide/**',
    affects: [
      'pure',
      'test/integration/{guide-examples,installation,refused-endpoint-slices,given-cluster-up,command-line,monitoring}.test.ts',
      'test/attack/{rolling-restart,app-secrets}.test.ts',
      'test/e2e/{first-application,domains-tls}.test.ts',
    ],
  },
  { files: 'docs/{adr,reference}/**', affects: ['pure'] },
  { files: '**/*.md', affects: ['pure'] },
  // What stands beside the programs and their tests, and is no module.
  { files: 'src/services/builds/cause/*/**', affects: ['small'] },
  { files: 'src/controllers/tenant/workload-scripts/*.sh', affects: ['small', 'platform', 'test/integration/**'] },
  { files: 'dev/{buildkit,images,kpack,command-line}/**', affects: ['small'] },
  { files: '{dev/github,dev/attack,dev/generate,test/bench,test/soak}/**', affects: ['pure'] },
  { files: 'test/faults/write-docs.ts', affects: ['nothing'] },
  { files: 'test/e2e/pod-process.ts', affects: ['test/e2e/**'] },
  { files: 'test/sweep/**', affects: ['test/sweep/**'] },
]

/** What runs on pods is built from these, and what brings it there. */
export const platformFiles: readonly string[] = [
  'src/**',
  'dev/{up,cluster,images,kpack,demo,attack,github,postgres,versitygw,buildkit,command-line}/**',
]
