// Moves the user ids of a tenant's pods into the range of the tenant, by a MutatingAdmissionPolicy: it needs the labels of the
// namespace, which no webhook sees, and holds while all our processes are down. An id that a pod names keeps its place in the
// range, as in a user namespace; what no index of the list reaches stays as it is, and the policy pod-users refuses it.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
import { labels } from '../../api/names.ts'
import { defaultImageUser, userRangeSize } from '../../lib/limits/user-range.ts'
import { celText } from '../rule.ts'
import { addPatch, type Mutation, newPods } from './mutation.ts'

const lists = ['containers', 'initContainers'] as const
/** More containers than this with a user of their own are refused. */
const maxContainers = 32
const indexes = `[${Array.from({ length: maxContainers }, (_, index) => index).join(', ')}]`
/** kpack's label on the pods of its builds. */
const kpackBuild = 'kpack.io/build'
/**
 * The phases of the lifecycle run as this user, and the files of the image belong to it
 * (https://github.com/buildpacks/spec/blob/main/platform.md).
 */
const lifecycleUser = 'CNB_USER_ID'

/** An id of an image; root has no place in a range, because Pod Security refuses it. */
const isOfImage = (id: string): string => `(${id} > 0 && ${id} < ${userRangeSize})`

const podUser = 'object.spec.?securityContext.?runAsUser'
const podGroup = 'object.spec.?securityContext.?fsGroup'

function moved(list: (typeof lists)[number]): string {
  const user = (index: string): string => `variables.${list}[${index}].?securityContext.?runAsUser.orValue(0)`
  return [
    `${indexes}.filter(i, i < variables.${list}.size() && ${isOfImage(user('i'))})`,
    `.map(i, ${addPatch(`'/spec/${list}/' + string(i) + '/securityContext/runAsUser'`, `variables.first + ${user('i')}`)})`,
  ].join('')
}

const envOf = 'variables.initContainers[i].?env.orValue([])'

/**
 * The user by whom the lifecycle runs and to whom it gives the files of the image: the pod's own, not the one that the builder
 * names.
 */
const lifecycleUsers = [
  `(${celText(kpackBuild)} in object.metadata.?labels.orValue({}) ? ${indexes} : [])`,
  // Once, although other mutations may have this one evaluated again.
  `.filter(i, i < variables.initContainers.size() && !${envOf}.exists(e, e.name == ${celText(lifecycleUser)}))`,
  '.map(i, variables.initContainers[i].?env.hasValue() ?',
  ` ${addPatch(`'/spec/initContainers/' + string(i) + '/env/-'`, 'variables.lifecycleUser')} :`,
  ` ${addPatch(`'/spec/initContainers/' + string(i) + '/env'`, '[variables.lifecycleUser]')})`,
].join('')

const patches = [
  `(object.spec.?securityContext.hasValue() ? [] : [${addPatch("'/spec/securityContext'", 'Object.spec.securityContext{}')}])`,
  `[${addPatch("'/spec/securityContext/runAsUser'", 'variables.user')}]`,
  `(${isOfImage(`${podGroup}.orValue(0)`)} ? [${addPatch("'/spec/securityContext/fsGroup'", `variables.first + ${podGroup}.orValue(0)`)}] : [])`,
  ...lists.map(moved),
  lifecycleUsers,
].join(' + ')

export const userMutation: Mutation = {
  name: 'pod-users',
  scope: 'tenant-namespaces',
  label: labels.firstUser,
  match: newPods,
  policy: () => ({
    variables: [
      { name: 'first', expression: `int(namespaceObject.metadata.labels[${celText(labels.firstUser)}])` },
      { name: 'named', expression: `${podUser}.orValue(${defaultImageUser})` },
      { name: 'user', expression: `${isOfImage('variables.named')} ? variables.first + variables.named : variables.named` },
      ...lists.map(list => ({ name: list, expression: `object.spec.?${list}.orValue([])` })),
      { name: 'lifecycleUser', expression: `{'name': ${celText(lifecycleUser)}, 'value': string(variables.user)}` },
    ],
    patches,
  }),
}
