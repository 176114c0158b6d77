// The parts of the repository that several costly cases prove, as lists of globs. What of `test` a case uses is not listed: its
// imports say it (used-files.ts).

/** How services open, and those that no other list names. */
export const serviceOpeners: readonly string[] = [
  'src/services/*.ts',
  'src/services/*/open.ts',
  'src/services/{app-secret-keys,image-cleanup,redelivery,webhook-certificate}/**',
]
export const packages: readonly string[] = ['package-lock.json', '.node-version']
export const apiServer: readonly string[] = [
  ...packages,
  'dev/cluster/control-plane/**',
  'dev/cluster/binaries/**',
  'dev/cluster/modules/{etcd,kubernetes}/**',
]
export const previews: readonly string[] = [
  'src/controllers/{app-pipeline,preview-approval}/**',
  'src/api/apps/**',
  'src/{policy,controllers/kit,lib/limits}/**',
  'test/fixtures/{preview-fixture,preview-platform,pipeline-fixture,pull-requests}.ts',
]
export const builds: readonly string[] = [
  ...packages,
  'src/services/builds/**',
  'src/controllers/{application,remote-sync}/**',
  'src/api/apps/**',
  'dev/{images,kpack}/**',
  'dev/cluster/{binaries,modules,node}/**',
]
export const podsOfTenants: readonly string[] = [
  ...packages,
  'src/{admission,authorizer}/**',
  'src/controllers/{application,tenant}/**',
  'src/services/charts/**',
  'src/api/{apps,tenancy}/**',
  'src/lib/limits/**',
  'dev/cluster/**',
  'deploy/{policies,authorizer}/**',
]
export const runtime: readonly string[] = ['src/kube/**', 'src/controllers/{*.ts,kit/**}', ...serviceOpeners]
/** How an Application runs, and what people do with it. */
export const applications: readonly string[] = [
  ...podsOfTenants,
  ...runtime,
  'src/controllers/remote-sync/**',
  'src/cli/**',
  'deploy/{base,production,rbac}/**',
]
