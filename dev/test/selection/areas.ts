// The parts of the repository that several costly cases prove, as lists of globs.

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
  'src/policy/**',
  'test/fixtures/{preview-fixture,preview-platform,pipeline-fixture,pull-requests}.ts',
]
export const builds: readonly string[] = [
  ...packages,
  'src/builds/**',
  'src/controllers/{application,remote-sync}/**',
  'src/api/apps/**',
  'dev/{images,kpack}/**',
  'dev/cluster/{binaries,modules,node}/**',
  'test/e2e/{platform,branch,manifests,objects}.ts',
]
export const podsOfTenants: readonly string[] = [
  ...packages,
  'src/admission/**',
  'src/controllers/{application,tenant}/**',
  'src/charts/**',
  'src/api/{apps,tenancy}/**',
  'src/lib/limits/**',
  'dev/cluster/**',
  'deploy/policies/**',
  'test/e2e/{platform,branch,manifests,objects}.ts',
]
export const fixtures: readonly string[] = ['test/{fixtures,proxies,server}/**']
export const runtime: readonly string[] = ['src/kube/**', 'src/controllers/{*.ts,kit/**}', 'src/controllers/services/**']
