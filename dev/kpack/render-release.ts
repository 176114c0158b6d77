// Renders kpack's release manifests from the config folder of its Go module. Those files are ytt templates whose expressions
// are YAML comments, so they parse as YAML with missing values; this file fills them in and adapts the result to a small shared
// machine.
import { parseAllDocuments } from 'yaml'
import { AppError } from '../../src/lib/errors.ts'
import { type KubernetesObject, withLabel } from './kubernetes-object.ts'

export type ReleaseValues = { readonly image: string; readonly version: string }

/** Not Kubernetes objects, or replaced by our own ClusterLifecycle. */
const skippedFiles = new Set(['schema.yaml', 'default_clusterlifecycle.yaml'])

/** The ConfigMaps from which the controller reads its images. */
const imageConfigMaps = new Set(['build-init-image', 'build-waiter-image', 'rebase-image', 'completion-image'])

/**
 * Deployment → its program and resources. Measured peaks: controller 93 MB, webhook 57 MB; a CPU limit would only slow the
 * start.
 */
const servers: Readonly<Record<string, { command: string; resources: object }>> = {
  'kpack-controller': {
    command: '/controller',
    resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '512Mi' } },
  },
  'kpack-webhook': { command: '/webhook', resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } } },
}

/** `files` are file names with their texts. Throws `integrity_violation` when kpack has another layout than this code expects. */
export function renderRelease(files: ReadonlyMap<string, string>, values: ReleaseValues): readonly KubernetesObject[] {
  const objects = [...files.keys()]
    .filter(name => !skippedFiles.has(name))
    .sort()
    .flatMap(name => parseObjects(name, files.get(name) ?? ''))
    .map(object => withLabel(fill(object, values)))
  for (const name of Object.keys(servers)) {
    if (!objects.some(object => object.kind === 'Deployment' && object.metadata.name === name))
      throw new AppError(
        'integrity_violation',
        `kpack ${values.version} has no Deployment ${name}; dev/kpack expects another layout`,
      )
  }
  return objects
}

function parseObjects(name: string, text: string): readonly KubernetesObject[] {
  return parseAllDocuments(text).flatMap(document => {
    if (document.errors.length > 0) throw new AppError('integrity_violation', `kpack's ${name} is not valid YAML`)
    // The files are part of a Go module whose checksum was verified; a document is an object or empty.
    const value = document.toJS() as KubernetesObject | null
    return value === null ? [] : [value]
  })
}

function fill(object: KubernetesObject, { image, version }: ReleaseValues): KubernetesObject {
  if (object.kind === 'ConfigMap' && imageConfigMaps.has(object.metadata.name)) return { ...object, data: { image } }
  if (object.kind === 'ClusterRole' && object.metadata.name === 'kpack-controller-admin')
    return { ...object, rules: withoutSecrets(object) }
  const server = object.kind === 'Deployment' ? servers[object.metadata.name] : undefined
  return server ? fillDeployment(object, { image, version, ...server }) : object
}

type Rule = { readonly resources?: readonly string[] }

/**
 * Upstream lets the controller read every Secret of the cluster, for registry and git credentials. Ours reads the registry
 * credentials that the platform makes, by their names (deploy/rbac/kpack.yaml), and no others.
 */
function withoutSecrets(object: KubernetesObject): readonly Rule[] {
  const rules = (object['rules'] ?? []) as readonly Rule[]
  return rules
    .map(rule => ({ ...rule, resources: (rule.resources ?? []).filter(resource => resource !== 'secrets') }))
    .filter(rule => rule.resources.length > 0)
}

type PodTemplate = { readonly metadata: { readonly labels: object }; readonly spec: { readonly containers: readonly object[] } }

function fillDeployment(
  object: KubernetesObject,
  values: ReleaseValues & { readonly command: string; readonly resources: object },
): KubernetesObject {
  const spec = object['spec'] as { readonly template: PodTemplate }
  const { template } = spec
  const { image, command, resources } = values
  const filled: PodTemplate = {
    ...template,
    metadata: { ...template.metadata, labels: { ...template.metadata.labels, version: values.version } },
    spec: {
      ...template.spec,
      containers: template.spec.containers.map(container => ({ ...container, image, command: [command], resources })),
    },
  }
  return { ...object, spec: { ...spec, template: filled } }
}
