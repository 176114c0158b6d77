// By which authority the API server verifies the webhook, as docs/guide/install.md says it, and the webhook the API server.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClusterSettings, devClusterFolder } from '../../cluster/settings.ts'
import { platformNamespace as namespace } from '../mode.ts'
import type { OverlayPart } from './part.ts'

/** The Secret with the certificates that API servers trust about the webhook, as they were applied last. */
export const admissionTrustSecret = 'sekisho-admission-authority'

/** For the ConfigMap with the settings of the pods. */
export const admissionClientSettings = { SEKISHO_ADMISSION_CLIENT_CA_PATH: '/etc/sekisho/admission-clients/ca.crt' }

/** On the local cluster, whose API server shows a certificate. */
export async function admissionTrust(settings: ClusterSettings): Promise<OverlayPart> {
  const pki = join(devClusterFolder(settings), 'pki')
  const part = trustPart(await readFile(join(pki, 'ca.crt'), 'utf8'))
  return { ...part, objects: { ...part.objects, 'admission-clients': await clientAuthority(pki) } }
}

/** The authorities of the webhook's serving certificate, in its registrations. */
export function trustPart(authorityPem: string): OverlayPart {
  const authority = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: admissionTrustSecret, namespace },
    data: { 'ca.crt': Buffer.from(authorityPem).toString('base64') },
  }
  return {
    objects: { 'admission-authority': authority },
    patches: [],
    replacements: [
      {
        source: { kind: 'Secret', name: admissionTrustSecret, fieldPath: 'data.[ca.crt]' },
        targets: [
          {
            select: { group: 'admissionregistration.k8s.io', name: 'sekisho-admission' },
            fieldPaths: ['webhooks.*.clientConfig.caBundle'],
            options: { create: true },
          },
        ],
      },
    ],
  }
}

async function clientAuthority(pki: string): Promise<object> {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'sekisho-admission-clients', namespace },
    data: { 'ca.crt': await readFile(join(pki, 'admission-client-ca.crt'), 'utf8') },
  }
}
