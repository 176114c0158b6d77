// The layers that are objects of admission: the bindings of policies, without which a policy decides nothing, and the
// registrations of the webhook. They are deleted, and applied again as they were, by the field manager of `make up`.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { dryRun, type Kept, type LayerSwitch, notUnderstood } from './layer.ts'

const plurals = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
  MutatingAdmissionPolicy: 'mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: 'mutatingadmissionpolicybindings',
  ValidatingWebhookConfiguration: 'validatingwebhookconfigurations',
  MutatingWebhookConfiguration: 'mutatingwebhookconfigurations',
} as const

type AdmissionKind = keyof typeof plurals

/** An object of admission that this version ships. */
export type ShippedAdmission = {
  readonly apiVersion: string
  readonly kind: AdmissionKind
  readonly metadata: { readonly name: string }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly webhooks?: readonly Readonly<Record<string, unknown>>[]
}

/** All of deploy/policies. */
export async function shippedAdmission(repository: string): Promise<readonly ShippedAdmission[]> {
  const folder = join(repository, 'deploy/policies')
  const texts = await Promise.all((await readdir(folder)).map(name => readFile(join(folder, name), 'utf8')))
  return texts
    .flatMap(text => parseAllDocuments(text).map(document => document.toJS() as ShippedAdmission))
    .filter(({ kind }) => kind in plurals)
}

export function admissionPath({ apiVersion, kind, metadata }: ShippedAdmission): string {
  return `/apis/${apiVersion}/${plurals[kind]}/${metadata.name}`
}

/** `shipped`: for tests; default all of deploy/policies. */
export type Registrations = { readonly shipped: () => Promise<readonly ShippedAdmission[]> }

function switchOf(
  { shipped }: Registrations,
  kinds: readonly AdmissionKind[],
  described: Pick<LayerSwitch, 'what' | 'alarm' | 'standing'>,
): LayerSwitch {
  return {
    ...described,
    async keep({ admin }) {
      const ours = (await shipped()).filter(({ kind }) => kinds.includes(kind))
      const answers = await Promise.all(ours.map(async one => ({ one, answer: await admin.request('GET', admissionPath(one)) })))
      return answers.flatMap(({ one, answer: { status, body } }) => {
        // What is missing already is not put back: walls/silent names it.
        if (status === 404) return []
        if (status !== 200) throw new Error(`${admissionPath(one)}: ${status}`)
        return [{ path: admissionPath(one), object: asApplied(one, body as ShippedAdmission) }]
      })
    },
    async off({ admin }, kept) {
      for (const { path } of kept) {
        const { status } = await admin.request('DELETE', path)
        if (status >= 400 && status !== 404) throw new Error(`DELETE ${path}: ${status}`)
      }
    },
    async on({ admin }, kept) {
      const apply = 'application/apply-patch+yaml'
      for (const { path, object } of kept) await admin.call('PATCH', `${path}?fieldManager=sekisho-up&force=true`, object, apply)
    },
  }
}

/** What it decides, with the labels by which `make up` knows it. */
function asApplied({ apiVersion, kind }: ShippedAdmission, found: ShippedAdmission): Kept['object'] {
  const { name, labels } = found.metadata as { readonly name: string; readonly labels?: object }
  const { spec, webhooks } = found
  return { apiVersion, kind, metadata: { name, ...(labels && { labels }) }, ...(spec && { spec }), ...(webhooks && { webhooks }) }
}

/** A Secret that Kubernetes would fill with a token: refused to everybody by a policy, and behind it by the webhook. */
const tokenSecret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'layer-probe', annotations: { 'kubernetes.io/service-account.name': 'default' } },
  type: 'kubernetes.io/service-account-token',
}

export function policiesLayer(registrations: Registrations): LayerSwitch {
  return switchOf(registrations, ['ValidatingAdmissionPolicyBinding'], {
    what: 'every ValidatingAdmissionPolicy decides nothing: its bindings are deleted',
    alarm: 'WallsHold: validating-policies, own-writes, secret-references; the alert SekishoWallOff',
    async standing({ admin }) {
      const answer = await dryRun(admin, { group: '/api/v1', resource: 'secrets', object: tokenSecret })
      if (answer === undefined) return 'unknown'
      if (answer.message.includes('ValidatingAdmissionPolicy ')) return 'on'
      if (answer.status === 201 || /admission webhook .* denied/.test(answer.message)) return 'off'
      throw notUnderstood(answer)
    },
  })
}

const proxyLabel = 'service.kubernetes.io/service-proxy-name'
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'layer-probe' },
  spec: { selector: { app: 'layer-probe' }, ports: [{ port: 80 }] },
}

type Labelled = { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }

export function mutationsLayer(registrations: Registrations): LayerSwitch {
  return switchOf(registrations, ['MutatingAdmissionPolicyBinding'], {
    what: 'every MutatingAdmissionPolicy changes nothing: its bindings are deleted',
    alarm: 'WallsHold: mutating-policies; the alert SekishoWallOff',
    async standing({ admin }) {
      const answer = await dryRun(admin, { group: '/api/v1', resource: 'services', object: service })
      if (answer === undefined) return 'unknown'
      if (answer.status === 201) return (answer.body as Labelled).metadata?.labels?.[proxyLabel] === undefined ? 'off' : 'on'
      if (answer.message.includes('sekisho-service-proxy')) return 'off'
      throw notUnderstood(answer)
    },
  })
}

const appSecret = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'AppSecret',
  metadata: { name: 'layer-probe' },
  spec: { values: { LAYER_PROBE: 'not a secret' } },
}

type Sealed = { readonly spec?: { readonly values?: unknown; readonly sealed?: unknown } }

export function webhookLayer(registrations: Registrations): LayerSwitch {
  return switchOf(registrations, ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'], {
    what: 'the admission webhook is asked nothing: both of its registrations are deleted',
    alarm: 'WallsHold: webhook-registrations; the alert SekishoWallOff',
    async standing({ admin }) {
      const answer = await dryRun(admin, { group: '/apis/apps.sekisho.dev/v1alpha1', resource: 'appsecrets', object: appSecret })
      if (answer === undefined) return 'unknown'
      // Where nobody seals the values, the schema refuses them.
      if (answer.status === 422) return 'off'
      if (answer.status !== 201) throw notUnderstood(answer)
      const { values, sealed } = (answer.body as Sealed).spec ?? {}
      return values === undefined && sealed !== undefined ? 'on' : 'off'
    },
  })
}
