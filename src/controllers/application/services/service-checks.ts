// Whether the services of an Application can be used, what is said when not, and the versions of their credentials, by which a
// replaced one makes a release. Pure. It knows names and versions only; credentials are in Secrets that this controller never
// reads.

import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { classOf, goesOnByItself } from '../../../api/reasons/reason.ts'
import { bindingFiles, doubleVariable, serviceEnvironment, serviceOf } from '../../../api/services/application-services.ts'
import { bindingAuthorityKey } from '../../../api/services/binding-secret.ts'
import { hasAuthority } from '../../../api/services/provider.ts'
import { serviceBinding } from '../../../api/services/service-binding.ts'
import { findCondition } from '../../../kube/object/conditions.ts'
import { firstRefusal } from '../../../policy/check.ts'
import type { Refusal } from '../../kit/refusal.ts'
import { filesFolder } from './files-folder.ts'
import type { ServiceEntry, ServiceFacts } from './service-facts.ts'

type Facts = ServiceFacts & { readonly application: Application }

const entryField = (name: string): string => `spec.services[${name}]`
const fieldOf = ({ use }: ServiceEntry): string => entryField(use.name)

function invalid(message: string): Refusal {
  return { reason: reasons.invalidServices, message }
}

/** Stops two entries, or an entry and `spec.env`, that set the same variable: one of them would be lost. */
function variablesAreApart({ application: { spec }, services }: Facts): Refusal | undefined {
  const double = doubleVariable(
    spec.env ?? [],
    services.map(({ use }) => use),
  )
  if (double === undefined) return undefined
  const field = entryField(double.by)
  const other = double.and === undefined ? 'spec.env' : entryField(double.and)
  return invalid(
    `${field}.env: ${other} sets ${double.variable}, too: give it another name, such as ${field}.env: {OTHER_${double.variable}: ${double.key}}`,
  )
}

/** Stops files in a folder that is not known, or cannot be mounted. */
function filesHaveFolder({ application: { spec }, services }: Facts): Refusal | undefined {
  if (!services.some(({ use }) => use.files === true) || filesFolder(spec) !== undefined) return undefined
  return invalid(
    `spec.env[${bindingFiles.variable}] must be a value such as ${bindingFiles.folder}, an absolute path of letters, digits, _, - and .: correct it, or leave it out`,
  )
}

/** Stops what has no service, or none that this Application may use. */
function servicesCanBeUsed({ application: { spec }, services }: Facts): Refusal | undefined {
  for (const entry of services) {
    const { service, serviceClass, use } = entry
    if (service === undefined) {
      const { kind, name } = serviceOf(use)
      const field = `${fieldOf(entry)}.${kind === 'Bucket' ? 'bucket' : 'instance'}`
      return {
        reason: reasons.serviceNotFound,
        message: entry.serviceEnds
          ? `${field}: ${kind} ${name} is being deleted, which waits until no Application uses it: remove the entry`
          : `${field}: there is no ${kind} ${name}: create it, or correct the name`,
      }
    }
    if (spec.isolated === true && serviceClass?.spec.allowIsolated !== true)
      return {
        reason: reasons.serviceNotForIsolated,
        message: `${fieldOf(entry)}: ServiceClass ${service.spec.class} is not offered to isolated Applications: remove the entry, or ask a platform admin to set allowIsolated`,
      }
    const wantsAuthority = Object.values(serviceEnvironment(use)).includes(bindingAuthorityKey)
    if (wantsAuthority && serviceClass !== undefined && !hasAuthority(serviceClass))
      return invalid(
        `${fieldOf(entry)}.env: credentials of ServiceClass ${service.spec.class} have no ${bindingAuthorityKey}, because the certificate of its server is publicly trusted: leave it out`,
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
  return firstRefusal([variablesAreApart, filesHaveFolder, servicesCanBeUsed], facts)
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
