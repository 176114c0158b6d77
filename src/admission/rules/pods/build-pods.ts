// What pods may be in build namespaces, whoever writes them. Where the platform builds Dockerfiles these namespaces are labelled
// `privileged`, because Pod Security judges a whole namespace; this rule is in its place. Every pod is `restricted`, except one
// container of a pod that our own controllers create in the one shape of `src/services/builds/buildkit/pod-manifest.ts`.
// Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
import { builderServiceAccount, dockerfileBuildContainers } from '../../../api/dockerfile-build.ts'
import { type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import { celList, celText, type Rule } from '../../rule.ts'

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const
const hostNamespaces = ['hostNetwork', 'hostPID', 'hostIPC'] as const
const restrictedVolumes = ['configMap', 'downwardAPI', 'emptyDir', 'ephemeral', 'persistentVolumeClaim', 'projected', 'secret']
const profiles = ['RuntimeDefault', 'Localhost']
const idCapabilities = ['SETUID', 'SETGID']
const pinned = '@sha256:'
const { source, daemon, build } = dockerfileBuildContainers

const message = `pods in build namespaces must be as restricted as Pod Security “restricted” says; only the platform’s own Dockerfile builds have a user namespace, in one shape`

function strings(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Neither privileged, nor with devices, host ports or labels of SELinux; without any capability but those. */
function isConfined(container: JsonObject, capabilities: readonly string[]): boolean {
  const context = objectAt(container, 'securityContext')
  return (
    context?.['privileged'] !== true &&
    (textAt(context, 'procMount') ?? 'Default') === 'Default' &&
    context?.['seLinuxOptions'] === undefined &&
    context?.['windowsOptions'] === undefined &&
    strings(objectAt(context, 'capabilities')?.['drop']).includes('ALL') &&
    strings(objectAt(context, 'capabilities')?.['add']).every(name => capabilities.some(allowed => allowed === name)) &&
    objectsAt(container, 'ports').every(port => (port['hostPort'] ?? 0) === 0)
  )
}

/** As an ordinary user, whom the container or the pod names; none of the two may name root. */
function isOrdinaryUser(container: JsonObject, spec: JsonObject): boolean {
  const own = objectAt(container, 'securityContext')
  const ofPod = objectAt(spec, 'securityContext')
  return (own?.['runAsNonRoot'] ?? ofPod?.['runAsNonRoot']) === true && own?.['runAsUser'] !== 0 && ofPod?.['runAsUser'] !== 0
}

function isRestricted(container: JsonObject, spec: JsonObject): boolean {
  const context = objectAt(container, 'securityContext')
  const profile = objectAt(context, 'seccompProfile') ?? objectAt(spec, 'securityContext', 'seccompProfile')
  return (
    isConfined(container, []) &&
    isOrdinaryUser(container, spec) &&
    context?.['allowPrivilegeEscalation'] === false &&
    profiles.includes(textAt(profile, 'type') ?? '') &&
    textAt(objectAt(context, 'appArmorProfile'), 'type') !== 'Unconfined'
  )
}

/** What holds for the pod itself, whatever is in it. */
function isPodRestricted(spec: JsonObject): boolean {
  const context = objectAt(spec, 'securityContext')
  return (
    hostNamespaces.every(field => spec[field] !== true) &&
    objectsAt(context, 'sysctls').length === 0 &&
    context?.['seLinuxOptions'] === undefined &&
    context?.['windowsOptions'] === undefined &&
    textAt(objectAt(context, 'appArmorProfile'), 'type') !== 'Unconfined' &&
    objectsAt(spec, 'volumes').every(volume =>
      Object.keys(volume).every(key => key === 'name' || restrictedVolumes.includes(key)),
    )
  )
}

/**
 * The pod of a Dockerfile build: one image for all containers, no token, and only `buildkitd` less restricted than the others.
 */
function isDockerfileBuild(spec: JsonObject): boolean {
  const [init, main] = [objectsAt(spec, 'initContainers'), objectsAt(spec, 'containers')]
  const [first, second] = init
  const image = textAt(second, 'image') ?? ''
  return (
    init.map(container => textAt(container, 'name')).join() === `${source},${daemon}` &&
    main.map(container => textAt(container, 'name')).join() === build &&
    objectsAt(spec, 'ephemeralContainers').length === 0 &&
    image.includes(pinned) &&
    [...init, ...main].every(container => textAt(container, 'image') === image) &&
    spec['automountServiceAccountToken'] === false &&
    textAt(spec, 'serviceAccountName') === builderServiceAccount &&
    objectsAt(spec, 'volumes').every(volume => volume['emptyDir'] !== undefined || volume['secret'] !== undefined) &&
    [first, ...main].every(container => container !== undefined && isRestricted(container, spec)) &&
    second !== undefined &&
    isConfined(second, idCapabilities) &&
    isOrdinaryUser(second, spec)
  )
}

/** A CEL list of all containers in the lists of these names. */
function containers(lists: readonly string[]): string {
  return lists.map(list => `variables.spec.?${list}.orValue([])`).join(' + ')
}

const context = 'c.?securityContext'

function confined(capabilities: readonly string[]): string {
  return [
    `${context}.?privileged.orValue(false) == false`,
    `${context}.?procMount.orValue('Default') == 'Default'`,
    `!${context}.?seLinuxOptions.hasValue() && !${context}.?windowsOptions.hasValue()`,
    `'ALL' in ${context}.?capabilities.?drop.orValue([])`,
    `${context}.?capabilities.?add.orValue([]).all(name, name in ${capabilities.length === 0 ? '[]' : celList(capabilities)})`,
    'c.?ports.orValue([]).all(p, p.?hostPort.orValue(0) == 0)',
    `${context}.?runAsNonRoot.orValue(variables.context.?runAsNonRoot.orValue(false)) == true`,
    `${context}.?runAsUser.orValue(1) != 0 && variables.context.?runAsUser.orValue(1) != 0`,
  ].join(' && ')
}

const restricted = [
  confined([]),
  `${context}.?allowPrivilegeEscalation.orValue(true) == false`,
  `${context}.?seccompProfile.?type.orValue(variables.context.?seccompProfile.?type.orValue('')) in ${celList(profiles)}`,
  `${context}.?appArmorProfile.?type.orValue('') != 'Unconfined'`,
].join(' && ')

/** Of an existing pod only images, tolerations, the deadline and ephemeral containers can change. */
export const buildPods: Rule = {
  name: 'build-pods',
  stops: 'a privileged pod in a build namespace, which Pod Security alone would let pass where Dockerfiles are built',
  scope: 'build-namespaces',
  matches: [{ group: '', resources: ['pods', 'pods/ephemeralcontainers'], operations: ['CREATE', 'UPDATE'] }],
  check({ operation, object, oldObject, username }, { controllers }) {
    const spec = objectAt(object, 'spec') ?? {}
    if (operation === 'UPDATE' && sameJson(spec, objectAt(oldObject, 'spec'))) return undefined
    if (!isPodRestricted(spec)) return message
    const all = containerLists.flatMap(list => objectsAt(spec, list))
    if (all.every(container => isRestricted(container, spec))) return undefined
    return controllers.includes(username) && isDockerfileBuild(spec) ? undefined : message
  },
  policy: ({ controllers }) => ({
    variables: [
      { name: 'spec', expression: 'dyn(object).?spec.orValue({})' },
      { name: 'context', expression: 'variables.spec.?securityContext.orValue({})' },
      { name: 'unchanged', expression: 'oldObject != null && dyn(oldObject).?spec.orValue({}) == variables.spec' },
      {
        name: 'podRestricted',
        expression: [
          ...hostNamespaces.map(field => `variables.spec.?${field}.orValue(false) == false`),
          'variables.context.?sysctls.orValue([]).size() == 0',
          '!variables.context.?seLinuxOptions.hasValue() && !variables.context.?windowsOptions.hasValue()',
          "variables.context.?appArmorProfile.?type.orValue('') != 'Unconfined'",
          `variables.spec.?volumes.orValue([]).all(v, v.all(key, key == 'name' || key in ${celList(restrictedVolumes)}))`,
        ].join(' && '),
      },
      { name: 'containers', expression: containers(containerLists) },
      { name: 'init', expression: containers(['initContainers']) },
      { name: 'image', expression: "variables.init.size() == 2 ? variables.init[1].?image.orValue('') : ''" },
      {
        name: 'dockerfileBuild',
        expression: [
          `variables.init.map(c, c.name) == ${celList([source, daemon])}`,
          `variables.spec.containers.map(c, c.name) == ${celList([build])}`,
          'variables.spec.?ephemeralContainers.orValue([]).size() == 0',
          `variables.image.contains(${celText(pinned)})`,
          "variables.containers.all(c, c.?image.orValue('') == variables.image)",
          'variables.spec.?automountServiceAccountToken.orValue(true) == false',
          `variables.spec.?serviceAccountName.orValue('') == ${celText(builderServiceAccount)}`,
          "variables.spec.?volumes.orValue([]).all(v, 'emptyDir' in v || 'secret' in v)",
          `variables.containers.all(c, c.name == ${celText(daemon)} || (${restricted}))`,
          `variables.containers.all(c, c.name != ${celText(daemon)} || (${confined(idCapabilities)}))`,
        ].join(' && '),
      },
    ],
    validation: {
      expression: [
        'variables.unchanged',
        ` || (variables.podRestricted && (variables.containers.all(c, ${restricted})`,
        ` || (request.userInfo.username in ${celList(controllers)} && variables.dockerfileBuild)))`,
      ].join(''),
      message,
    },
  }),
}
