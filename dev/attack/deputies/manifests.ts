// Objects of the tenant's kinds with only what they need.
const apps = 'apps.sekisho.dev/v1alpha1'

type Spec = Readonly<Record<string, unknown>>

/** An Application that runs this image. */
export function application(name: string, image: string, spec: object = {}) {
  return {
    apiVersion: apps,
    kind: 'Application',
    metadata: { name },
    spec: { image, processes: [{ name: 'web', port: 3000, healthPath: '/healthz', memory: '64Mi' }], ...spec },
  }
}

/** A RemoteSync of globex's own repository, to the Application of the same name. */
export function remoteSync(name: string, spec: Spec) {
  const common = {
    installation: 'github',
    repository: 'globex/site',
    source: { branch: 'main' },
    build: { timeoutSeconds: 120 },
    application: name,
  }
  return { apiVersion: apps, kind: 'RemoteSync', metadata: { name }, spec: { ...common, ...spec } }
}

/** An Application without an image. */
export function emptyApplication(name: string, spec: Spec = {}) {
  return {
    apiVersion: apps,
    kind: 'Application',
    metadata: { name },
    spec: { processes: [{ name: 'web', port: 3000, memory: '64Mi' }], ...spec },
  }
}
