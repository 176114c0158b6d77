// docs/reference/walls.md: each wall with what it protects, its layer, as whom it is tried and which tests prove it; and for each
// rule of admission the path that it closes, to whom, and in which of the two forms. From the lists of the product.
import type { PolicyRule, Rule, Scope } from '../../../../src/admission/rule.ts'
import { ownRules, policyRules, rules } from '../../../../src/admission/rules/index.ts'
import { type Wall, type WallName, type WallProbe, walls } from '../../../../src/services/wall-probe/walls.ts'
import { layerSwitches } from '../../../up/layers/list.ts'
import { code, page, table } from '../../markdown.ts'

const probes: Readonly<Record<WallProbe, string>> = {
  compared: 'compared with what this version ships',
  'without rights': 'as `sekisho-wall-probe`, which has no right',
  controllers: 'by a dry run of the controllers',
}

/** A test, without `.test.ts`, and words that it has as long as it proves this. */
type Proof = { readonly path: string; readonly has: string }

/** Rows stand in `test/attack/rows`, by the rule that refuses. */
export const matrix = 'test/attack/admission'
const inMatrix = (has: string): Proof => ({ path: matrix, has })
const probed = (wall: WallName): Proof => ({ path: 'test/attack/wall-probe', has: `'${wall}'` })
const inNamespaces = (wall: WallName): Proof => ({ path: 'src/services/wall-probe/namespaces', has: wall })

type Proofs = {
  readonly tests: readonly [Proof, ...Proof[]]
  /** Of `make attack`. */
  readonly attacks: readonly string[]
}

/** The tests and the attacks that prove it. */
export const provedBy: Readonly<Record<WallName, Proofs>> = {
  'validating-policies': {
    tests: [inMatrix('with the policies alone'), probed('validating-policies')],
    attacks: ['walls/silent'],
  },
  'mutating-policies': { tests: [probed('mutating-policies')], attacks: ['walls/silent'] },
  'webhook-registrations': {
    tests: [inMatrix('with the webhook alone'), probed('webhook-registrations')],
    attacks: ['walls/silent'],
  },
  'own-writes': { tests: [inMatrix('sekisho-own-writes'), probed('own-writes')], attacks: [] },
  'secret-references': {
    tests: [inMatrix("expecting('secret-references')"), probed('secret-references')],
    attacks: ['mounts/tokens', 'mounts/registry-credentials'],
  },
  'namespace-labels': {
    tests: [inMatrix("expecting('namespace-guard')"), probed('namespace-labels'), inNamespaces('namespace-labels')],
    attacks: ['rights/cluster'],
  },
  'pod-security': {
    tests: [probed('pod-security'), inNamespaces('pod-security')],
    attacks: ['walls/silent', 'rights/built-in-roles'],
  },
  'network-default-deny': {
    tests: [
      { path: 'test/e2e/network', has: 'a new tenant is closed from its first pod on' },
      probed('network-default-deny'),
      inNamespaces('network-default-deny'),
    ],
    attacks: ['walls/silent'],
  },
  installations: {
    tests: [inMatrix("expecting('installation-writers')"), probed('installations')],
    attacks: ['kinds/of-the-platform'],
  },
  tenants: {
    tests: [inMatrix("expecting('tenant-writers')"), probed('tenants')],
    attacks: ['kinds/of-the-platform', 'rights/roles', 'rights/built-in-roles'],
  },
  secrets: {
    tests: [
      { path: 'test/integration/tenant-roles', has: 'reads, of every resource that the API server has' },
      probed('secrets'),
    ],
    attacks: ['reads/with-kubectl', 'secrets/app-secret-as-own-tenant'],
  },
  'pod-connections': {
    tests: [
      { path: 'test/attack/access', has: 'build-connections' },
      inMatrix("expecting('build-connections')"),
      probed('pod-connections'),
    ],
    attacks: ['reads/exec-beside-a-grant', 'rights/built-in-roles'],
  },
  'account-tokens': {
    tests: [
      { path: 'test/attack/access', has: 'account-tokens' },
      inMatrix("expecting('account-tokens')"),
      probed('account-tokens'),
    ],
    attacks: ['rights/identities', 'rights/built-in-roles'],
  },
}

const scopes: Readonly<Record<Scope, string>> = {
  everywhere: 'the whole cluster',
  'tenant-namespaces': 'both namespaces of tenants',
  'application-namespaces': 'namespaces of tenants',
  'build-namespaces': 'build namespaces',
  'platform-namespace': '`sekisho-system`',
}

function layerTable(): string {
  const switches = Object.entries(layerSwitches('.'))
  return table(
    ['layer', 'without it', 'what says so meanwhile'],
    switches.map(([name, { what, alarm }]) => [code(name), what, alarm]),
  )
}

const introduction = `The platform looks at its walls every two minutes (\`SEKISHO_WALL_PROBE_SECONDS\`). What it finds is in the condition \`WallsHold\` of every Tenant, in the ConfigMap
\`sekisho-wall-status\` of \`sekisho-system\`, in Events about that, and in the metric \`sekisho_wall_holds\`; [operations.md](../guide/operations.md#sekishowalloff) says what to do. How it tries without being able to do
harm: [ADR 0090](../adr/0090-walls-that-say-when-they-are-off.md). Connections between tenants are tried by the [probe of network policies](../adr/0020-probe-of-network-policies.md).

What stands on one layer alone is shown by \`make attack A='--without <layer>'\` on the local cluster ([ADR 0087](../adr/0087-attacks-with-a-layer-off.md)): the attacks are played with all layers, then without that one.

${layerTable()}`

const rulesIntroduction = `A rule in both forms stands as a ValidatingAdmissionPolicy and in the webhook; a policy alone holds while all processes of the platform are down, too. \`test/attack/admission.test.ts\` plays
every row of \`test/attack/rows\` against each form. Whom a rule exempts beside those named here: [exemptions.md](exemptions.md).`

/** The page as Markdown. */
export function wallsPage(): string {
  const both: readonly (Rule | PolicyRule)[] = rules
  const asPolicies: readonly (Rule | PolicyRule)[] = [...policyRules, ...ownRules]
  return page({
    title: 'Walls',
    subject:
      'This page lists what stands between tenants, and between tenants and the platform, and how it is known that it stands.',
    source: '`src/services/wall-probe/walls.ts` and `src/admission/rules`',
    sections: [
      introduction,
      '## What is looked at',
      table(['wall', 'protects', 'layer', 'looked at', 'what', 'proved by'], walls.map(wallRow)),
      '## Rules of admission',
      rulesIntroduction,
      table(
        ['rule', 'path', 'in', 'closed to', 'stops', 'form'],
        [...both.map(rule => ruleRow(rule, 'policy, webhook')), ...asPolicies.map(rule => ruleRow(rule, 'policy'))],
      ),
    ],
  })
}

function wallRow({ name, protects, layer, probes: by, how }: Wall & { readonly name: WallName }): readonly string[] {
  return [code(name), protects, layer, by.map(probe => probes[probe]).join('; '), how, provers(name)]
}

function provers(wall: WallName): string {
  const { tests, attacks } = provedBy[wall]
  const played = attacks.map(name => `[attack](attacks.md) ${code(name)}`)
  return [...tests.map(({ path }) => code(`${path}.test.ts`)), ...played].join(', ')
}

function ruleRow(rule: Rule | PolicyRule, form: string): readonly string[] {
  const { name, stops, scope, matches, administratorsMay } = rule
  const path = matches.flatMap(({ group, resources, operations }) =>
    resources.map(resource => `${operations.join('/')} ${code(group === '' ? resource : `${group}/${resource}`)}`),
  )
  const closed =
    'users' in rule && rule.users !== undefined
      ? 'the ServiceAccounts of the platform'
      : administratorsMay
        ? 'everybody but platform admins and whom the rule names'
        : 'everybody but whom the rule names'
  return [code(name), path.join(', '), scopes[scope], closed, stops, form]
}
