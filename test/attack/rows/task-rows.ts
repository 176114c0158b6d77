// Attacks by the names of pods: a name that begins with `sekisho-run-<id>-` opens the pod to that person.
import {
  controllers,
  dave,
  type Identity,
  jobController,
  mia,
  platformAdministrator,
  replicaSetController,
} from '../identities.ts'
import { type Body, type PodSpec, workloads } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('task-names')
const spec: PodSpec = { containers: [{ name: 'main', image: 'registry.test/x' }] }
const idOf = ({ user }: typeof dave): string => user.split('|')[2] ?? ''
const own = `sekisho-run-${idOf(dave)}-shop-abcde`

const made = (kind: string, name: string): Body => {
  const workload = workloads.get(kind)
  if (workload === undefined) throw new Error(`${kind} is no workload`)
  return workload.object(name, spec)
}
const pathOf = (kind: string, namespace = 'acme'): string => workloads.get(kind)?.path(namespace) ?? ''

/** The API server makes the name before the policies judge it. */
function generated(kind: string, generateName: string): Body {
  const { name: _, ...metadata } = made(kind, 'x').metadata
  return { ...made(kind, 'x'), metadata: { ...metadata, generateName } }
}

function ownedPod(apiVersion: string, kind: string, owner: string): Body {
  const uid = '00000000-0000-4000-8000-000000000000'
  const pod = made('Pod', `${owner}-fghij`)
  return { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ apiVersion, kind, name: owner, uid, controller: true }] } }
}

const named = [...workloads.keys()].filter(kind => kind !== 'PodTemplate')

export const taskRows: readonly Row[] = [
  ...named
    .filter(kind => kind !== 'Job')
    .flatMap(kind => [
      refused.post(`${kind} with the name of one’s own command`, dave, pathOf(kind), made(kind, own)),
      refused.post(
        `${kind} with a generated name of that form`,
        dave,
        pathOf(kind),
        generated(kind, `sekisho-run-${idOf(dave)}-`),
      ),
    ]),
  allowed.post('a Job of one’s own', dave, pathOf('Job'), made('Job', own)),
  allowed.post(
    'a Job of one’s own with a generated name',
    dave,
    pathOf('Job'),
    generated('Job', `sekisho-run-${idOf(dave)}-shop-`),
  ),
  refused.post('a Job with the name of another person’s command', mia, pathOf('Job'), made('Job', own)),
  refused.post(
    'a Job with a generated name of another person’s',
    mia,
    pathOf('Job'),
    generated('Job', `sekisho-run-${idOf(dave)}-`),
  ),
  refused.post(
    'a Job with a name that only begins like one’s own',
    dave,
    pathOf('Job'),
    made('Job', `sekisho-run-${idOf(dave)}9-x`),
  ),
  refused.post('a Job with the prefix alone', dave, pathOf('Job'), generated('Job', 'sekisho-run-')),
  refused.post('a Job of the platform with the name of a command', controllers, pathOf('Job'), made('Job', own)),
  allowed.post('the controller of Jobs makes the pod', jobController, pathOf('Pod'), ownedPod('batch/v1', 'Job', own)),
  refused.post('a developer makes the pod of a Job', dave, pathOf('Pod'), ownedPod('batch/v1', 'Job', own)),
  refused.post(
    'another controller makes such a pod',
    replicaSetController,
    pathOf('Pod'),
    ownedPod('apps/v1', 'ReplicaSet', own),
  ),
  refused.post('the controller of Jobs makes a pod that is of none', jobController, pathOf('Pod'), made('Pod', `${own}-fghij`)),
  allowed.post('a platform admin makes such a Job', platformAdministrator, pathOf('Job'), made('Job', own)),
  allowed.post('such a name elsewhere', dave, pathOf('Pod', 'other'), made('Pod', own)),
  allowed.post('another name', dave, pathOf('Job'), made('Job', 'sekisho-runs')),
]

/** A pod of dave's own command. */
export const ownTaskPod = `${own}-fghij`

/** Who must not attach to which pod; a CONNECT has no answer that is a success, so that these rows are not in the matrix. */
export const attachRefusals: readonly (readonly [what: string, as: Identity, pod: string])[] = [
  ['a pod of an Application', dave, 'runner'],
  ['the command of another person', mia, ownTaskPod],
  ['a name that only begins like that of another person', { ...dave, user: `${dave.user}3` }, ownTaskPod],
  ['a pod without an id in its name', dave, 'sekisho-run-shop-abcde'],
  ['a ServiceAccount', controllers, ownTaskPod],
  ['a user whose name ends like that of a person', { ...dave, user: `x${dave.user}` }, ownTaskPod],
]
