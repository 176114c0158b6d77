// Whose a pod is that runs under the ServiceAccount of an Application: by the chain of controlling owners, each of which is read
// and has the UID that the one below names, up to an Application that is there now. The name of the ServiceAccount, labels and
// names of pods prove nothing.

import { applicationOfAccount } from '../../../api/application-account.ts'
import { application } from '../../../api/apps/application.ts'
import { cronJobs, deployments, jobs, type Pod, replicaSets } from '../../../api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../../api/resource.ts'
import type { KubeClient } from '../../../kube/client/client.ts'
import { controllerOf, controllingKey } from '../../../kube/object/owner.ts'
import type { TokenSubject } from '../../../store/token-registry.ts'

/** What may stand between a pod and its Application; a chain never has more than two of them. */
const between: readonly ResourceType[] = [replicaSets, deployments, jobs, cronJobs]
const maxSteps = 3

/** The object that controls `child`, when it is of that type, is there, and is the very one that is named. */
async function controllerIn<T extends KubeObject>(
  client: Pick<KubeClient, 'get'>,
  child: KubeObject,
  type: ResourceType<T>,
): Promise<T | undefined> {
  const key = controllingKey(child, type)
  const found = key && (await client.get(type, key))
  return found?.metadata.uid === controllerOf(child)?.uid && found?.metadata.deletionTimestamp === undefined ? found : undefined
}

/**
 * The Application of a pod under the ServiceAccount `account`, as the subject of a grant. Undefined when the chain is broken,
 * ends elsewhere, or leads to another Application than the one whose account it is.
 */
export async function applicationOfPod(
  client: Pick<KubeClient, 'get'>,
  pod: Pod,
  account: string,
): Promise<TokenSubject | undefined> {
  let child: KubeObject = pod
  for (let step = 0; step < maxSteps; step++) {
    const owner = await controllerIn(client, child, application)
    if (owner !== undefined) {
      const { namespace = '', name, uid = '' } = owner.metadata
      const isOwn = name === applicationOfAccount(account) && owner.spec.isolated !== true
      return isOwn && uid !== '' ? { kind: application.kind, namespace, name, uid } : undefined
    }
    const reference = controllerOf(child)
    const type = between.find(({ kind, apiVersion }) => kind === reference?.kind && apiVersion === reference.apiVersion)
    const next = type && (await controllerIn<KubeObject>(client, child, type))
    if (next === undefined) return undefined
    child = next
  }
  return undefined
}
