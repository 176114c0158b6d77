// Where images go and who builds them, on a cluster of the user's. Pure.

import { messageOf } from '../../../../src/lib/errors.ts'
import { parseGivenRegistry } from '../../../images/registry/given-registry.ts'
import type { RegistryFact } from './facts.ts'
import type { Inputs } from './inputs.ts'
import type { RegistryPlan } from './plan.ts'

/** A registry that the settings name. */
type Place = {
  readonly variable: string
  readonly reference: string
  readonly fact: RegistryFact
  /** The platform issues its tokens. */
  readonly isOurs: boolean
}

export function registryOf(inputs: Inputs): RegistryPlan | undefined {
  const { facts, settings, missing } = inputs
  const { registry: reference, registryAuthentication: authentication } = settings
  if (authentication === undefined)
    missing(
      'who issues credentials for the images of tenants',
      'SEKISHO_UP_REGISTRY_AUTHENTICATION=token-server (the registry believes this platform), secret (it has accounts of its own) or none (every tenant reads and replaces the images of all)',
    )
  if (reference === undefined)
    return missing('a registry that this machine, nodes and builds reach', 'SEKISHO_UP_REGISTRY=registry.example.com/team')
  const isOurs = authentication === 'token-server'
  const shared: Place = { variable: 'SEKISHO_UP_REGISTRY', reference, fact: facts.registry, isOurs }
  const own = platformPlace(inputs) ?? shared
  const usable = (own === shared ? [shared] : [shared, own]).map(place => isUsable(inputs, place))
  const pullSecret = pullSecretOf(inputs, own)
  if (usable.includes(false) || pullSecret === undefined || authentication === undefined) return undefined
  return { reference, authentication, platform: own.reference, pullSecret, realm: isOurs ? realmOf(facts.registry) : null }
}

function platformPlace({ facts, settings: { platformRegistry: reference } }: Inputs): Place | undefined {
  if (reference === undefined || facts.platformRegistry === undefined) return undefined
  return { variable: 'SEKISHO_UP_PLATFORM_REGISTRY', reference, fact: facts.platformRegistry, isOurs: false }
}

function realmOf(fact: RegistryFact): URL | null {
  return fact.state === 'closed' && fact.realm !== undefined && URL.canParse(fact.realm) ? new URL(fact.realm) : null
}

/** Whether this machine reaches the registry and may push there; what stands in the way is reported. */
function isUsable(inputs: Inputs, place: Place): boolean {
  const { variable, reference, fact } = place
  const { missing } = inputs
  try {
    parseGivenRegistry(reference)
  } catch (error) {
    missing(`a usable ${variable}: it ${messageOf(error)}`, `${variable}=registry.example.com/team`)
    return false
  }
  if (fact.state === 'unreachable') missing(`the registry ${reference}: ${fact.why}`, `start it, or correct ${variable}`)
  else if (fact.state === 'closed' && !fact.accepted) reportLogin(inputs, place, fact.why)
  return fact.state !== 'unreachable' && (fact.state !== 'closed' || fact.accepted)
}

function reportLogin({ facts, missing }: Inputs, { reference, isOurs }: Place, why: string | undefined): void {
  const [host = ''] = reference.split('/')
  const said = why === undefined ? '' : ` (${why})`
  if (isOurs)
    missing(
      `trust of the registry ${host} in the authority of this platform${said}`,
      `configure the registry with rootcertbundle ${facts.registryAuthorityFile}, service sekisho-registry and issuer sekisho: docs/guide/install.md, section 8`,
    )
  else
    missing(
      `an account of ${host} that may push${said}`,
      `podman login --authfile registry.json ${host}; SEKISHO_UP_REGISTRY_CREDENTIALS_FILE=registry.json`,
    )
}

/**
 * The credential with which nodes pull the platform itself, null when they need none of us, or undefined when something was
 * reported.
 */
function pullSecretOf({ facts, settings, missing }: Inputs, { reference, fact, isOurs }: Place): string | null | undefined {
  const name = settings.pullSecret
  if (fact.state !== 'closed' || name === 'none') return null
  if (isOurs)
    return missing(
      `another registry for the platform's own image: the platform issues the tokens of ${reference}, and does not run before nodes have pulled it`,
      'SEKISHO_UP_PLATFORM_REGISTRY=<registry and path>, or SEKISHO_UP_PULL_SECRET=none where nodes have a credential of their own',
    )
  const create = (secret: string): string =>
    `kubectl apply -f deploy/base/namespace.yaml; kubectl create secret docker-registry ${secret} -n sekisho-system --docker-server=… --docker-username=… --docker-password=…`
  if (name === undefined)
    return missing(
      'the credential with which nodes pull the image of the platform',
      `${create('sekisho-pull')}; SEKISHO_UP_PULL_SECRET=sekisho-pull (or none, where nodes have a credential of their own)`,
    )
  return facts.secrets.includes(name) ? name : missing(`the Secret ${name} in sekisho-system`, create(name))
}

/** kpack's builder: used as it is when somebody else made it. */
export function builderOf({ facts, settings, missing }: Inputs) {
  const name = settings.clusterBuilder
  const canMake = settings.registryAuthentication === 'token-server'
  if (facts.clusterBuilder === 'foreign' || (facts.clusterBuilder === 'ours' && !canMake)) return { name, make: false }
  if (name !== 'sekisho')
    return missing(`the ClusterBuilder ${name}`, 'correct SEKISHO_UP_CLUSTER_BUILDER: kubectl get clusterbuilders')
  // Ours pulls and pushes with a credential that only the token server issues.
  if (canMake) return { name, make: true }
  return missing(
    'a ClusterBuilder of kpack named sekisho; make up makes one only with SEKISHO_UP_REGISTRY_AUTHENTICATION=token-server',
    'make one as https://buildpacks.io/docs/for-platform-operators/how-to/integrate-ci/kpack/ says, or name yours: SEKISHO_UP_CLUSTER_BUILDER',
  )
}
