// From what was read of a cluster of the user's and from the settings to a plan, or to everything that is missing with its
// cure. Pure.
import { kpackVersion } from '../../../cluster/binaries/catalog.ts'
import type { Mode } from '../../mode.ts'
import { decidedTwice } from '../pod-settings.ts'
import type { GivenClusterSettings } from '../settings.ts'
import type { ClassFact, Facts } from './facts.ts'
import { builderOf, registryOf } from './images.ts'
import type { Inputs, Report } from './inputs.ts'
import { apiServerOf, applicationsOf, brokerOf, githubOf } from './network.ts'
import type { DatabasePlan, Decision, Missing, Plan } from './plan.ts'

/**
 * Structured authentication:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration
 */
const oldestMinor = 34

/** `asked` is the mode that the user named: without one the form that runs stays, and the first form is the standalone one. */
export function decide(facts: Facts, settings: GivenClusterSettings, asked: Mode | undefined): Decision {
  const missing: Missing[] = []
  const mode = asked ?? facts.form ?? 'standalone'
  const report: Report = (what, cure) => void missing.push({ what, cure })
  const inputs = { facts, settings, mode, missing: report }
  checkCluster(inputs)
  checkPlatform(inputs)
  const plan: { readonly [K in keyof Plan]: Plan[K] | undefined } = {
    mode,
    registry: registryOf(inputs),
    builder: builderOf(inputs),
    broker: brokerOf(inputs),
    ingress: applicationsOf(inputs, ingressClassOf(inputs)),
    storageClass: mode === 'standalone' ? storageClassOf(inputs) : null,
    database: mode === 'production' ? databaseOf(inputs) : null,
    apiServer: apiServerOf(inputs),
    github: githubOf(inputs),
    accounts: settings.accounts ?? (settings.githubAddress === undefined ? null : 'any'),
    platformSettings: settings.platformSettings,
    mutations: facts.mutations,
  }
  if (isComplete(plan)) checkPlatformSettings(plan, report)
  return { missing, plan: missing.length === 0 && isComplete(plan) ? plan : undefined }
}

function isComplete(plan: { readonly [K in keyof Plan]: Plan[K] | undefined }): plan is Plan {
  return Object.values(plan).every(value => value !== undefined)
}

function checkCluster({ facts, missing }: Inputs): void {
  if (facts.unreadable.length > 0)
    missing(
      `rights to read the cluster (what seems to be missing below may be there):\n    ${facts.unreadable.join('\n    ')}`,
      'use a kubeconfig of a cluster administrator',
    )
  const [, major = '0', minor = '0'] = /^v(\d+)\.(\d+)/.exec(facts.version) ?? []
  if (Number(major) === 1 && Number(minor) < oldestMinor)
    missing(`Kubernetes 1.${oldestMinor} or later (it is ${facts.version})`, 'upgrade the cluster')
  if (facts.mutations === undefined)
    missing(
      'MutatingAdmissionPolicies, which give the pods of each tenant user ids of their own',
      'upgrade to Kubernetes 1.36, or start its API servers with --feature-gates=MutatingAdmissionPolicy=true and --runtime-config=admissionregistration.k8s.io/v1beta1=true',
    )
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const usable = facts.nodes.filter(node => node.ready && node.architecture === architecture)
  if (usable.length === 0)
    missing(
      `a node that is ready and has the architecture of this machine (${architecture}), for which the image is built`,
      'add a node, or see why none is ready: kubectl describe nodes',
    )
  if (facts.refused.length > 0)
    missing(
      `rights of your user: ${facts.refused.map(({ verb, resource, group }) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`).join(', ')}`,
      'use a kubeconfig of a cluster administrator; kubectl auth can-i --list shows what yours may do',
    )
  if (!facts.kpack)
    missing(
      'kpack, which builds images',
      `kubectl apply -f https://github.com/buildpacks-community/kpack/releases/download/v${kpackVersion}/release-${kpackVersion}.yaml; kubectl rollout status deployment -n kpack`,
    )
}

function checkPlatformSettings(plan: Plan, missing: Report): void {
  const names = decidedTwice(plan)
  if (names.length > 0)
    missing(
      `one value for ${names.join(', ')}: make up sets it from what it finds and from its own settings`,
      'leave it out of SEKISHO_UP_PLATFORM_SETTINGS; docs/reference/environment.md has the settings of make up',
    )
}

/** Whether sekisho-system is ours to write. */
function checkPlatform({ facts, mode, missing }: Inputs): void {
  if (facts.namespace === 'foreign')
    missing(
      'the namespace sekisho-system: it exists and is not labelled app.kubernetes.io/part-of=sekisho',
      'find out whose it is; the platform needs this name',
    )
  if (facts.installedBy === 'others')
    missing(
      'a platform of this checkout: the one in sekisho-system was installed in another way or from another state folder, with other authorities',
      'go on with what installed it (docs/guide/install.md, or make up with that state folder)',
    )
  else if (facts.form !== undefined && facts.form !== mode)
    missing(
      `a cluster without the ${facts.form} form, which runs there; to replace it would delete its database`,
      `MODE=${facts.form} keeps it; docs/guide/install.md, section 12, removes it with its database`,
    )
}

/** The class that was named, the default one, or the only one. */
function classOf(classes: readonly ClassFact[], named: string | undefined): string | undefined {
  if (named !== undefined) return classes.find(({ name }) => name === named)?.name
  const defaults = classes.filter(({ isDefault }) => isDefault)
  const candidates = defaults.length > 0 ? defaults : classes
  return candidates.length === 1 ? candidates[0]?.name : undefined
}

function whatThereIs(classes: readonly ClassFact[]): string {
  return classes.length === 0 ? 'the cluster has none' : `the cluster has ${classes.map(({ name }) => name).join(', ')}`
}

function ingressClassOf({ facts: { ingressClasses: classes }, settings, missing }: Inputs): string | undefined {
  const named = settings.ingressClass
  return (
    classOf(classes, named) ??
    missing(
      `the ingress class${named === undefined ? '' : ` ${named}`}: ${whatThereIs(classes)}`,
      classes.length === 0 ? 'install an ingress controller, such as Traefik' : 'SEKISHO_UP_INGRESS_CLASS=<one of them>',
    )
  )
}

function storageClassOf({ facts: { storageClasses: classes }, settings, missing }: Inputs): string | undefined {
  const named = settings.storageClass
  return (
    classOf(classes, named) ??
    missing(
      `the storage class${named === undefined ? '' : ` ${named}`}: ${whatThereIs(classes)}`,
      classes.length === 0
        ? 'install a storage provisioner, or use MODE=production, which keeps its data in PostgreSQL'
        : 'SEKISHO_UP_STORAGE_CLASS=<one of them>',
    )
  )
}

function databaseOf({ settings, missing }: Inputs): DatabasePlan | undefined {
  const ownerUrl = settings.databaseOwnerUrl?.reveal()
  const cure =
    "CREATE ROLE sekisho_owner LOGIN CREATEROLE PASSWORD '…'; CREATE DATABASE sekisho OWNER sekisho_owner; then SEKISHO_UP_DATABASE_OWNER_URL_FILE=<file with its URL>"
  if (ownerUrl === undefined) return missing('PostgreSQL 15 or later, with TLS', cure)
  const url = URL.canParse(ownerUrl) ? new URL(ownerUrl) : undefined
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || url.username === '' || url.pathname.length < 2)
    return missing(
      'a usable SEKISHO_UP_DATABASE_OWNER_URL',
      'postgresql://<owner>:<password>@<host>:<port>/<database>?sslmode=verify-full',
    )
  if (url.searchParams.get('sslmode') !== 'verify-full')
    return missing(
      'sslmode=verify-full in SEKISHO_UP_DATABASE_OWNER_URL: passwords of the platform would go to whoever answers',
      'add ?sslmode=verify-full, and SEKISHO_UP_DATABASE_CA_FILE=<file> unless everybody trusts its authority',
    )
  return { ownerUrl, authority: settings.databaseAuthority?.reveal() ?? null }
}
