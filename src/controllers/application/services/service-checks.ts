// Whether the services of an Application can be used, what is said when not, and the versions of their credentials, by which a
// replaced one makes a release. Pure. It knows names and versions only; credentials are in Secrets that this controller never
// reads.

import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import { bindingFiles, serviceEnvironment } from '../../../api/services/application-services.ts'
import { bindingAuthorityKey } from '../../../api/services/binding-secret.ts'
import { serviceBinding } from '../../../api/services/service-binding.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { firstRefusal } from '../../../policy/check.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { filesFolder } from './bound-pods.ts'
import type { ServiceEntry, ServiceFacts } from './service-facts.ts'

type Facts = ServiceFacts & { readonly application: Application }

const fieldOf = ({ use }: ServiceEntry): string => `spec.services[${use.name}]`

function invalid(message: string): Refusal {
  return { reason: reasons.invalidServices, message }
}

/** Stops two entries, or an entry and `spec.env`, that set the same variable: one of them would be lost. */
function variablesAreApart({ application: { spec }, services }: Facts): Refusal | undefined {
  const setBy = new Map((spec.env ?? []).map(({ name }) => [name, 'spec.env']))
  for (const entry of services)
    for (const variable of Object.keys(serviceEnvironment(entry.use))) {
      const other = setBy.get(variable)
      if (other !== undefined)
        return invalid(
          `${fieldOf(entry)}.env: ${other} sets ${variable}, too: give it another name, such as ${fieldOf(entry)}.env: {OTHER_URL: uri}`,
        )
      setBy.set(variable, fieldOf(entry))
    }
  return undefined
}

/** Stops files in a folder that is not known, or cannot be mounted. */
function filesHaveFolder({ application: { spec }, services }: Facts): Refusal | undefined {
  if (!services.some(({ use }) => use.files === true) || filesFolder(spec) !== undefined) return undefined
  return invalid(
    `spec.env[${bindingFiles.variable}] must be a value such as ${bindingFiles.folder}, an absolute path of letters, digits, _, - and .: correct it, or leave it out`,
  )
}

/** Stops what has no instance, or none that this Application may use. */
function instancesCanBeUsed({ application: { spec }, services }: Facts): Refusal | undefined {
  for (const entry of services) {
    const { instance, serviceClass, use } = entry
    if (instance === undefined)
      return {
        reason: reasons.serviceNotFound,
        message: entry.instanceEnds
          ? `${fieldOf(entry)}.instance: ServiceInstance ${use.instance} is being deleted, which waits until no Application uses it: remove the entry`
          : `${fieldOf(entry)}.instance: there is no ServiceInstance ${use.instance}: create it, or correct the name`,
      }
    if (spec.isolated === true && serviceClass?.spec.allowIsolated !== true)
      return {
        reason: reasons.serviceNotForIsolated,
        message: `${fieldOf(entry)}: ServiceClass ${instance.spec.class} is not offered to isolated Applications: remove the entry, or ask a platform admin to set allowIsolated`,
      }
    const wantsAuthority = Object.values(serviceEnvironment(use)).includes(bindingAuthorityKey)
    if (wantsAuthority && serviceClass !== undefined && serviceClass.spec.provider.postgresql?.tls.caSecret === undefined)
      return invalid(
        `${fieldOf(entry)}.env: credentials of ServiceClass ${instance.spec.class} have no ${bindingAuthorityKey}, because the certificate of its server is publicly trusted: leave it out`,
      )
  }
  return undefined
}

/** Of a binding that has no credential yet: waiting goes on by itself, or needs somebody. */
function bindingProblem(entry: ServiceEntry): Refusal {
  const { binding, bindingName } = entry
  const ready = findCondition(binding?.status?.conditions, 'Ready')
  if (ready === undefined)
    return {
      reason: reasons.waitingForService,
      message: `${fieldOf(entry)}: ServiceBinding ${bindingName} was just created and has no credential yet`,
    }
  const of = classOf(serviceBinding, ready.reason)
  const reason = of === 'ready' || goesOnByItself(of) ? reasons.waitingForService : reasons.serviceNotUsable
  return { reason, message: `${fieldOf(entry)}: ServiceBinding ${bindingName} (${ready.reason}): ${ready.message}` }
}

/** A credential was delivered once: it goes on while its server does not answer, and so does the Application. */
function isDelivered({ binding }: ServiceEntry): boolean {
  return binding?.status?.version !== undefined && binding.status.binding !== undefined
}

function bindingsAreDelivered({ services, bindingRefusal }: Facts): Refusal | undefined {
  if (bindingRefusal !== undefined) return bindingRefusal
  const missing = services.find(entry => !isDelivered(entry))
  return missing && bindingProblem(missing)
}

/** What must hold before a ServiceBinding is made. */
export function usageProblem(facts: Facts): Refusal | undefined {
  return firstRefusal([variablesAreApart, filesHaveFolder, instancesCanBeUsed], facts)
}

/** Stops an Application whose pods could not start, or could not use a service. The running version keeps serving. */
export function serviceProblem(facts: Facts): Refusal | undefined {
  return usageProblem(facts) ?? bindingsAreDelivered(facts)
}

const versionPrefix = 'service:'

/** Under which the version of an entry's credential stands. */
export function versionName({ use }: Pick<ServiceEntry, 'use'>): string {
  return `${versionPrefix}${use.name}`
}

/**
 * The versions of the credentials, by `service:<name of the entry>`. The beginning of the uid is in them, because those of a
 * binding that was deleted and made again begin anew.
 */
export function serviceVersions({ services }: Pick<ServiceFacts, 'services'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    services.map(entry => [
      versionName(entry),
      `${entry.binding?.status?.version ?? 0}-${entry.binding?.metadata.uid?.slice(0, 8) ?? ''}`,
    ]),
  )
}

type Versions = Readonly<Record<string, string>>

/** Whether all that differs is credentials of services. */
export function onlyCredentials(before: Versions, after: Versions): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter(name => before[name] !== after[name])
  return changed.length > 0 && changed.every(name => name.startsWith(versionPrefix))
}
