// The registrations of our webhook. `Ignore` where a policy judges as well: without the webhook only its better messages are
// missing. `Fail` for the rules without a policy, for requests in which a name must be filled in, and for values of AppSecrets.
// Built-in kinds are sent for tenants' namespaces only. `caBundle` is added by whoever installs (docs/guide/install.md).
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
import { accessKinds } from '../api/audit/access-kinds.ts'
import { admissionWebhook, platformNamespace } from '../api/names.ts'
import { defined } from '../lib/json/defined.ts'
import { holdsValues, sealedMatches } from './app-secrets/seal-values.ts'
import { byOthers } from './changed-by/record-change.ts'
import { needsRequester } from './fill-requested-by.ts'
import { platformIdentities } from './identities.ts'
import type { Manifest } from './policies.ts'
import { type Rule, resourceRules } from './rule.ts'
import { namespaceSelectors, notAdministrator, type RuleSet, ruleSets } from './rule-sets.ts'
import { changedBy } from './rules/apps/changed-by.ts'
import { requestedBy } from './rules/kinds/requested-by.ts'
import { isDryRun, warnedMatches } from './warnings/policy-warnings.ts'

const { registration: registrationName, service: serviceName, recordsService } = admissionWebhook

/** The Service in a cluster, whose overlay adds `caBundle`; an address of the host with its authority in tests. */
export type WebhookTarget =
  | { readonly kind: 'service' }
  | {
      readonly kind: 'url'
      readonly origin: string
      readonly authorityPem: string
      /** Where who changes access is recorded; nowhere without it. */
      readonly recordsOrigin?: string
    }

const apiVersion = 'admissionregistration.k8s.io/v1'
const partOf = { 'app.kubernetes.io/part-of': 'sekisho' }

/** What the API server does when it cannot call the webhook, and how long it waits for it. */
type WhenDown = { readonly failurePolicy: 'Ignore' | 'Fail'; readonly timeoutSeconds: number }
/** A write waits for the whole time when the node of the webhook is lost, so less where it goes on without. */
const goesOn: WhenDown = { failurePolicy: 'Ignore', timeoutSeconds: 2 }
const isRefused: WhenDown = { failurePolicy: 'Fail', timeoutSeconds: 5 }

function clientConfig(target: WebhookTarget, path: string): object {
  return target.kind === 'url'
    ? { url: `${target.origin}${path}`, caBundle: Buffer.from(target.authorityPem).toString('base64') }
    : { service: { namespace: platformNamespace, name: serviceName, path, port: 443 } }
}

type Call = {
  readonly name: string
  readonly path: string
  readonly whenDown: WhenDown
  /** Rules, selectors and conditions. */
  readonly matching: object
}

function webhook(target: WebhookTarget, { name, path, whenDown, matching }: Call): object {
  return {
    name: `${name}.admission.sekisho.dev`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    ...whenDown,
    matchPolicy: 'Equivalent',
    clientConfig: clientConfig(target, path),
    ...matching,
  }
}

/**
 * The rules of a set in groups that are sent under the same condition and judged by the same parties; the name of each says
 * what differs.
 */
function groupsOf({ name, rules }: RuleSet): readonly (readonly [name: string, some: readonly Rule[]])[] {
  const always = rules.filter(rule => rule.webhookCondition === undefined)
  const [judgedTwice, judgedOnce] = [always.filter(rule => rule.policy), always.filter(rule => !rule.policy)]
  const groups: [string, readonly Rule[]][] = [
    [name, judgedTwice],
    [`${name}-required`, judgedOnce],
    ...rules.filter(rule => rule.webhookCondition).map((rule): [string, readonly Rule[]] => [rule.name, [rule]]),
  ]
  return groups.filter(([, some]) => some.length > 0)
}

/** The calls for a list of sets; exported so that a test can pass rules of which only the webhook judges some. */
export function validatingWebhooks(target: WebhookTarget, sets: readonly RuleSet[] = ruleSets): readonly object[] {
  return sets.flatMap(set =>
    groupsOf(set).map(([name, some]) => {
      const selector = namespaceSelectors[set.scope]
      const own = some.flatMap(rule => rule.webhookCondition?.(platformIdentities) ?? [])
      const conditions = [...own, ...(set.administratorsMay ? [notAdministrator] : [])]
      return webhook(target, {
        name,
        path: `/validate/${set.name}`,
        whenDown: some.every(rule => rule.policy) ? goesOn : isRefused,
        matching: {
          rules: some.flatMap(({ matches }) => resourceRules(matches)),
          ...defined({ namespaceSelector: selector }),
          ...(conditions.length === 0 ? {} : { matchConditions: conditions }),
        },
      })
    }),
  )
}

/** The call that decides nothing: a dry run of a policy is answered with warnings, and an ordinary write is not sent. */
function warningWebhook(target: WebhookTarget): object {
  const matching = { rules: resourceRules(warnedMatches), matchConditions: [isDryRun] }
  return webhook(target, { name: 'policy-warnings', path: '/warn/policies', whenDown: goesOn, matching })
}

/**
 * The call by which the controllers learn who changes access (docs/adr/0078-who-changes-access.md). It decides nothing, and a
 * dry run leaves nothing.
 */
function recordingWebhooks(target: WebhookTarget): readonly object[] {
  const matches = accessKinds.map(({ type, operations }) => ({
    group: type.apiVersion.slice(0, type.apiVersion.indexOf('/')),
    resources: [type.plural],
    operations,
  }))
  const call = { name: 'access-records', path: '/records', whenDown: goesOn }
  const matching = { rules: resourceRules(matches), matchConditions: [byOthers] }
  const sideEffects = 'NoneOnDryRun'
  if (target.kind === 'service') {
    const service = { namespace: platformNamespace, name: recordsService, path: call.path, port: 443 }
    return [{ ...webhook(target, { ...call, matching }), sideEffects, clientConfig: { service } }]
  }
  const { recordsOrigin: origin, authorityPem } = target
  return origin === undefined ? [] : [{ ...webhook({ kind: 'url', origin, authorityPem }, { ...call, matching }), sideEffects }]
}

/** The ValidatingWebhookConfiguration and the MutatingWebhookConfiguration, in this order. */
export function registrations(target: WebhookTarget): readonly Manifest[] {
  const metadata = { name: registrationName, labels: partOf }
  return [
    {
      apiVersion,
      kind: 'ValidatingWebhookConfiguration',
      metadata,
      webhooks: [...validatingWebhooks(target), warningWebhook(target), ...recordingWebhooks(target)],
    },
    {
      apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata,
      webhooks: [
        webhook(target, {
          name: 'requested-by',
          path: '/mutate',
          whenDown: isRefused,
          matching: {
            rules: resourceRules(requestedBy.matches),
            matchConditions: [needsRequester],
            reinvocationPolicy: 'IfNeeded',
          },
        }),
        webhook(target, {
          name: 'changed-by',
          path: '/mutate/changed-by',
          // Without it nobody is named, and nobody is named wrongly: the annotation then says an earlier generation.
          whenDown: goesOn,
          matching: {
            rules: resourceRules(changedBy.matches),
            matchConditions: [byOthers],
            // Another webhook may change the spec, or undo its change, after ours.
            reinvocationPolicy: 'IfNeeded',
          },
        }),
        webhook(target, {
          name: 'app-secrets',
          path: '/mutate/app-secrets',
          whenDown: isRefused,
          matching: {
            rules: resourceRules(sealedMatches),
            matchConditions: [holdsValues],
            // Another webhook may add values, or a copy of them, after ours.
            reinvocationPolicy: 'IfNeeded',
          },
        }),
      ],
    },
  ]
}

/** The Service in front of the webhook; `podLabels` select the pods that serve it. */
export function admissionService(podLabels: Readonly<Record<string, string>>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName, namespace: platformNamespace, labels: partOf },
    spec: { selector: podLabels, ports: [{ name: 'https', port: 443, targetPort: 9443 }] },
  }
}
