// Takes hosts away from an Application that may not have them any more.
import { hostsOfIngress, ingresses } from '../../../api/builtin/index.ts'
import { isOf } from '../../../api/resource.ts'
import { type HostFacts, isLost } from '../domains/hosts.ts'
import { type ObjectFacts, prune, type Target } from './apply-objects.ts'
import { entryOf } from './inventory.ts'

/** Deletes the Ingresses that serve a host which is another tenant's or the platform's by now. Everything else keeps running. */
export async function withdrawLostHosts(
  deps: Pick<Target, 'client'> & { readonly live: Target['assertCurrent'] },
  facts: HostFacts & Pick<ObjectFacts, 'children'>,
): Promise<void> {
  const lost = [...facts.children.values()]
    .filter(child => isOf(ingresses, child))
    .filter(ingress => hostsOfIngress(ingress).some(host => isLost(facts, host)))
  await prune({ client: deps.client, application: facts.application, assertCurrent: deps.live }, lost.map(entryOf))
}
