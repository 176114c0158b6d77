// Sets the authorities by which API servers verify the webhook's certificate: `caBundle` of our two registrations, by server-side apply
// under a manager that owns these fields only. It never creates a registration.
import { mutatingWebhookConfigurations, validatingWebhookConfigurations, type WebhookEntry } from '../../api/builtin/index.ts'
import type { KubeObject, ResourceType } from '../../api/resource.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isGone } from '../../kube/client/errors.ts'
import type { Log } from '../../lib/log.ts'
import { registrationName } from '../registrations.ts'

type TrustDeps = { readonly client: Pick<KubeClient, 'get' | 'apply'>; readonly log: Log }
type Registration = KubeObject & { readonly webhooks?: readonly WebhookEntry[] }

const fieldManager = 'sekisho.dev/admission-trust'

/** Writes the bundle to the registrations that exist and have another one. */
export async function trustAuthorities(deps: TrustDeps, bundlePem: string): Promise<void> {
  const caBundle = Buffer.from(bundlePem).toString('base64')
  await trustIn(deps, validatingWebhookConfigurations, caBundle)
  await trustIn(deps, mutatingWebhookConfigurations, caBundle)
}

async function trustIn(deps: TrustDeps, type: ResourceType<Registration>, caBundle: string): Promise<void> {
  const registration = await deps.client.get(type, { name: registrationName })
  const webhooks = registration?.webhooks ?? []
  if (registration === undefined || webhooks.every(webhook => webhook.clientConfig.caBundle === caBundle)) return
  const { uid } = registration.metadata
  const { apiVersion, kind } = type
  const wanted = {
    apiVersion,
    kind,
    // With the uid an apply never creates: a registration without rules would disable the webhook silently.
    metadata: { name: registrationName, ...(uid === undefined ? {} : { uid }) },
    webhooks: webhooks.map(({ name }) => ({ name, clientConfig: { caBundle } })),
  }
  try {
    await deps.client.apply(type, wanted, { fieldManager, force: true })
    deps.log.info({ kind }, 'the API server trusts the certificate of the admission webhook')
  } catch (error) {
    if (!isGone(error)) throw error
  }
}
