// Takes hosts away from an Application that may not have them any more.
import { type Ingress, ingresses } from '../../../api/builtin/index.ts'
import type { KubeObject } from '../../../api/resource.ts'
import { type HostFacts, hostsOfIngress, isLost } from '../domains/hosts.ts'
import { type ObjectFacts, prune, type Target } from './apply-objects.ts'
import { entryOf } from './inventory.ts'

function isIngress(object: KubeObject): object is Ingress {
  return object.apiVersion === ingresses.apiVersion && object.kind === ingresses.kind
}

/** Deletes the Ingresses that serve a host which is another tenant's or the platform's by now. Everything else keeps running. */
export async function withdrawLostHosts(
  deps: Pick<Target, 'client'> & { readonly live: Target['assertCurrent'] },
  facts: HostFacts & Pick<ObjectFacts, 'children'>,
): Promise<void> {
  const lost = [...facts.children.values()]
    .filter(isIngress)
    .filter(ingress => hostsOfIngress(ingress).some(host => isLost(facts, host)))
  await prune({ client: deps.client, application: facts.application, assertCurrent: deps.live }, lost.map(entryOf))
}
