// What `make up` says about a cluster of the user's: what is missing, what it will do, and what nobody can find out from here.
import { podPids } from '../../../src/lib/limits/node-limits.ts'
import { githubPort } from '../github.ts'
import type { Facts } from './decision/facts.ts'
import type { Missing, Plan } from './decision/plan.ts'

export function missingText(missing: readonly Missing[]): string {
  const items = missing.map(({ what, cure }) => `- ${what}\n    ${cure}`)
  return `this cluster and the settings lack ${missing.length === 1 ? 'one thing' : `${missing.length} things`}; nothing was changed:\n${items.join('\n')}`
}

/** Secrets are not part of it. */
export function planText(plan: Plan, { version, nodes }: Facts): string {
  const { registry, broker, ingress, github, database, apiServer, builder } = plan
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['cluster', `${apiServer.url}, Kubernetes ${version}, ${nodes.length} ${nodes.length === 1 ? 'node' : 'nodes'}`],
    ['form', plan.mode],
    ['public URL', `${broker.url.origin}, ${broker.expose === 'none' ? 'exposed by you' : 'by a Service of type LoadBalancer'}`],
    ['certificate', broker.certificate === null ? 'signed by the authority in the state folder' : 'yours'],
    [
      'GitHub',
      github.kind === 'emulator' ? `the emulator at http://${github.address}:${githubPort}` : `ClusterGitHubApp ${github.name}`,
    ],
    ['accounts', plan.accounts ?? 'each waits for a platform admin'],
    ['registry', `${registry.reference}, credentials of tenants: ${registry.authentication}`],
    ['platform image', registry.platform],
    ['pull credential', registry.pullSecret ?? 'none'],
    ['builder', `ClusterBuilder ${builder.name}, ${builder.make ? 'made from the images of this repository' : 'left as it is'}`],
    ['ingress', `class ${ingress.className}, from ${ingress.from}, applications at ${ingress.applicationUrl.origin}`],
    ['storage class', plan.storageClass ?? undefined],
    ['database', database === null ? 'embedded' : new URL(database.ownerUrl).host],
    ['webhook calls from', apiServer.from.join(', ')],
    ['further settings', Object.keys(plan.platformSettings).join(', ') || undefined],
  ]
  const lines = rows.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(19)} ${value}`]))
  return [
    'plan:',
    ...lines,
    'writes: the custom resource definitions of Sekisho, the namespace sekisho-system and what is in it, a role in the namespace default (for events),',
    '  cluster-wide roles and their bindings, admission policies, webhook registrations, the ApplicationChart web',
    `  ${[
      ...(github.kind === 'emulator' ? ['the ClusterGitHubApp github'] : []),
      ...(builder.make ? ["kpack's ClusterBuilder, ClusterStack, ClusterLifecycle sekisho and ClusterBuildpacks sekisho-…"] : []),
      'and nothing else of the cluster',
    ].join(', ')}`,
    '',
  ].join('\n')
}

/** What has to be seen from the cluster, or later. */
export function checksText(
  { broker, github, registry }: Plan,
  { podPids: pids }: Pick<Facts, 'podPids'>,
  authorityFile: string,
): string {
  const own = broker.certificate === null ? `, whose certificate ${authorityFile} signed` : ''
  const checks = [
    `API servers must trust the issuer ${broker.url.origin}${own}: docs/guide/install.md, section 9. To see it: bin/sekisho login, bin/sekisho kubeconfig, then kubectl auth whoami as that user says github|…`,
    'the network plugin must enforce NetworkPolicies; the platform tests it once a minute: kubectl get configmap sekisho-network-status -n sekisho-system -o jsonpath={.data}',
    'the addresses from which API servers call webhooks must fit: otherwise writes into tenants\' namespaces say "failed calling webhook … deadline exceeded"; then set SEKISHO_UP_API_SERVER_FROM',
    ...podPidsChecks(pids),
    'the limits of the kernel that all pods of a node share must be high (docs/guide/install.md, section 7); the platform reads those of the nodes where its controllers run: kubectl get configmap sekisho-node-status -n sekisho-system -o jsonpath={.data}',
    ...(broker.expose === 'none'
      ? [`${broker.url.origin} must lead to port 8443 of the Service sekisho-broker: docs/guide/install.md, section 3`]
      : [`DNS must lead ${broker.url.hostname} to the address of: kubectl get service sekisho-broker -n sekisho-system`]),
    ...(registry.authentication === 'token-server'
      ? [
          `nodes, builds and kpack must reach the Service sekisho-registry-tokens at ${registry.realm?.origin ?? 'the realm of the registry'} and trust its certificate: docs/guide/install.md, section 8`,
        ]
      : []),
    ...(registry.authentication === 'secret'
      ? ['each tenant needs two Secrets for the registry: docs/guide/install.md, section 8']
      : []),
    ...(registry.authentication === 'none' ? ['every tenant can read, replace and delete the images of all tenants'] : []),
    ...(github.kind === 'emulator'
      ? [
          `whoever reaches http://${github.address}:${githubPort} can sign in as anybody, also as the platform admin: for trials on closed networks only`,
        ]
      : []),
  ]
  const demo = github.kind === 'emulator' ? 'then: make demo, with the same KUBECONFIG\n' : ''
  return `to check, because it cannot be read from here:\n${checks.map(check => `- ${check}\n`).join('')}${demo}`
}

function podPidsChecks({ unlimited, unknown }: Facts['podPids']): readonly string[] {
  return [
    ...(unlimited.length === 0
      ? []
      : [
          `one pod may use up the processes of ${namesOf(unlimited)}: set podPidsLimit: ${podPids} in the KubeletConfiguration there (/var/lib/kubelet/config.yaml) and restart the kubelet (systemctl restart kubelet)`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `${namesOf(unknown)} did not say how many processes a pod may have: kubectl get --raw /api/v1/nodes/${unknown[0]}/proxy/configz must show "podPidsLimit":${podPids} or so`,
        ]),
  ]
}

const maxNamed = 5

function namesOf(nodes: readonly string[]): string {
  const more = nodes.length - maxNamed
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${nodes.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
