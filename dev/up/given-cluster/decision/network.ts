// How the platform, applications, the API server and GitHub reach each other on a cluster of the user's. Pure.
import type { Inputs } from './inputs.ts'
import type { BrokerPlan, GitHubPlan, Plan } from './plan.ts'

export function brokerOf(inputs: Inputs): BrokerPlan | undefined {
  const { settings, missing } = inputs
  const { publicUrl: url, expose } = settings
  if (expose === undefined)
    missing(
      'what leads from the public URL to the Service sekisho-broker',
      'SEKISHO_UP_EXPOSE=LoadBalancer, or none where you put something in front of it yourself (docs/guide/install.md, section 3)',
    )
  const certificate = certificateOf(inputs)
  if (url === undefined)
    return missing(
      'the URL by which people, GitHub and API servers reach the platform',
      'SEKISHO_UP_PUBLIC_URL=https://sekisho.example.com:8443, with DNS that leads there',
    )
  if (url.protocol !== 'https:' || url.pathname !== '/')
    return missing('https in SEKISHO_UP_PUBLIC_URL, and no path', 'SEKISHO_UP_PUBLIC_URL=https://sekisho.example.com:8443')
  return expose === undefined || certificate === undefined ? undefined : { url, expose, certificate }
}

function certificateOf({ settings, missing }: Inputs): BrokerPlan['certificate'] | undefined {
  const { certificate, certificateKey: key } = settings
  if (certificate !== undefined && key !== undefined) return { certificate: certificate.reveal(), key: key.reveal() }
  if (certificate !== undefined || key !== undefined)
    return missing(
      'the other half of the serving certificate',
      'set both SEKISHO_UP_TLS_CERTIFICATE_FILE and SEKISHO_UP_TLS_KEY_FILE, or none',
    )
  if (settings.githubApp !== undefined)
    return missing(
      'a serving certificate that GitHub trusts: it sends webhooks to no other',
      'SEKISHO_UP_TLS_CERTIFICATE_FILE=tls.crt SEKISHO_UP_TLS_KEY_FILE=tls.key',
    )
  return null
}

export function applicationsOf({ settings, missing }: Inputs, className: string | undefined): Plan['ingress'] | undefined {
  const { ingressFrom: from, applicationUrl } = settings
  if (from === undefined)
    missing(
      'where connections to applications come from',
      'SEKISHO_UP_INGRESS_FROM=<namespace of the ingress controller>, or the ranges of its hosts when it runs on their network',
    )
  if (applicationUrl === undefined)
    missing(
      'the URL of the ingress',
      'SEKISHO_UP_APPLICATION_URL=https://apps.example.net, with a wildcard DNS record that leads to the ingress',
    )
  else if (isRelated(applicationUrl.hostname, settings.publicUrl?.hostname))
    return missing(
      'an application URL apart from the public URL: browsers would share cookies between them',
      'another registrable domain in SEKISHO_UP_APPLICATION_URL',
    )
  return className === undefined || from === undefined || applicationUrl === undefined
    ? undefined
    : { className, from, applicationUrl }
}

/** The same host, or one above or below it. */
function isRelated(host: string, other: string | undefined): boolean {
  return other !== undefined && (host === other || host.endsWith(`.${other}`) || other.endsWith(`.${host}`))
}

export function apiServerOf({ facts, settings, missing }: Inputs): Plan['apiServer'] | undefined {
  const url = settings.apiServerUrl?.origin ?? facts.apiServer.url
  const { addresses, port } = facts.apiServer
  const from =
    settings.apiServerFrom.length > 0
      ? settings.apiServerFrom
      : addresses.map(address => `${address}/${address.includes(':') ? 128 : 32}`)
  const isLocal = URL.canParse(url) && /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname)
  if (isLocal)
    missing(
      `an address of the API server for other people: the kubeconfig has ${url}`,
      'SEKISHO_UP_API_SERVER_URL=https://kubernetes.example.com:6443',
    )
  if (from.length === 0)
    missing(
      'the addresses from which API servers call webhooks: the Service kubernetes has no endpoints',
      'SEKISHO_UP_API_SERVER_FROM=<CIDRs>',
    )
  return isLocal || from.length === 0 ? undefined : { url, port, from }
}

export function githubOf({ facts, settings, missing }: Inputs): GitHubPlan | undefined {
  const { githubAddress: address, githubApp: name, githubClientSecret, githubWebhookSecret } = settings
  if ((address === undefined) === (name === undefined))
    return missing(
      'a GitHub, and one only',
      'SEKISHO_UP_GITHUB_ADDRESS=<address of this machine that pods reach> for the emulator, or SEKISHO_UP_GITHUB_APP=<ClusterGitHubApp> for real GitHub',
    )
  if (address !== undefined) {
    if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address) && !address.startsWith('127.')) return { kind: 'emulator', address }
    return missing(
      `a usable SEKISHO_UP_GITHUB_ADDRESS: pods do not reach ${address}`,
      'an IPv4 address of this machine other than loopback: ip -4 addr',
    )
  }
  if (githubClientSecret === undefined || githubWebhookSecret === undefined)
    missing(
      'the secrets of the GitHub App',
      'SEKISHO_UP_GITHUB_CLIENT_SECRET_FILE=<file> SEKISHO_UP_GITHUB_WEBHOOK_SECRET_FILE=<file>',
    )
  if (name === undefined || facts.githubApps?.includes(name) !== true)
    return missing(
      `the ClusterGitHubApp ${name}`,
      'kubectl apply --server-side -k deploy/crds, then its Secret and the object as docs/guide/install.md, section 2',
    )
  if (githubClientSecret === undefined || githubWebhookSecret === undefined) return undefined
  return { kind: 'app', name, clientSecret: githubClientSecret.reveal(), webhookSecret: githubWebhookSecret.reveal() }
}
