// The authorizer of the local cluster, whose API server asks it at an address that it knows from its start (dev/cluster/up.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminUser } from '../../cluster/control-plane/certificates.ts'
import { traefikUser } from '../../cluster/node/access.ts'
import { type ClusterSettings, devClusterFolder } from '../../cluster/settings.ts'
import { platformNamespace as namespace } from '../mode.ts'
import { type OverlayPart, patchOf } from './part.ts'

const name = 'sekisho-authorizer'

/** The API server does not ask about these two; named, nobody else acts in their names. */
const readers = [adminUser, traefikUser].map(user => `User ${user}\n`).join('')

/** Its certificate is a Secret of its own (dev/up/secrets/platform-secrets.ts). */
export async function authorizerPart(settings: ClusterSettings): Promise<OverlayPart> {
  const authority = await readFile(join(devClusterFolder(settings), 'pki/admission-client-ca.crt'), 'utf8')
  const from = [settings.nodeAddress, settings.podGateway].map(address => ({ ipBlock: { cidr: `${address}/32` } }))
  const clients = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${name}-clients`, namespace },
    data: { 'ca.crt': authority },
  }
  return {
    objects: { 'authorizer-clients': clients },
    patches: [
      patchOf({ kind: 'Service', name }, { op: 'add', path: '/spec/clusterIP', value: settings.authorizerAddress }),
      patchOf(
        { kind: 'NetworkPolicy', name },
        { op: 'replace', path: '/spec/ingress', value: [{ from, ports: [{ protocol: 'TCP', port: 9445 }] }] },
      ),
      patchOf({ kind: 'ConfigMap', name: `${name}-access` }, { op: 'replace', path: '/data/readers', value: readers }),
    ],
  }
}
