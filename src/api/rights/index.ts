// The rights of every process, and of every ServiceAccount in both forms. In `standalone` one ServiceAccount has those of all
// processes.
import { type Mode, modes, type PlatformProcess, platformProcesses, platformServiceAccount } from '../names.ts'
import { admissionRights } from './admission.ts'
import { brokerRights } from './broker.ts'
import { controllersRights } from './controllers.ts'
import { dataServicesRights } from './data-services.ts'
import type { Right, Verb } from './right.ts'

export { type Place, type Right, roleRule, type Verb, writingVerbs } from './right.ts'

/** What a process may do under whichever ServiceAccount it runs, but for its Lease, which has the name of that. */
export const processRights: Readonly<Record<PlatformProcess, readonly Right[]>> = {
  broker: brokerRights,
  controllers: controllersRights,
  admission: admissionRights,
  'data-services': dataServicesRights,
}

/** The process elects a leader by a Lease of its name. A Lease is made by a plain create, which has no name. */
function leaseRights(name: string): readonly Right[] {
  const lease = {
    place: 'platform',
    group: 'coordination.k8s.io',
    resources: ['leases'],
    usedBy: ['src/kube/lease/lease.ts'],
  } as const
  const change: readonly Verb[] = ['get', 'patch']
  return [
    { ...lease, verbs: ['create'] },
    { ...lease, names: [name], verbs: change },
  ]
}

/** A ServiceAccount of the platform, the form that has it, which processes run under it, and what they may do. */
export type PlatformAccount = {
  readonly mode: Mode
  readonly name: string
  readonly processes: readonly PlatformProcess[]
  /** Empty where no process elects a leader. */
  readonly lease: readonly Right[]
  /** Those of the processes, and those of the lease. */
  readonly rights: readonly Right[]
}

function accountsOf(mode: Mode): readonly PlatformAccount[] {
  const names = [...new Set(platformProcesses.map(process => platformServiceAccount(mode, process)))]
  return names.map(name => {
    const processes = platformProcesses.filter(process => platformServiceAccount(mode, process) === name)
    const lease = processes.some(process => process !== 'admission') ? leaseRights(name) : []
    return { mode, name, processes, lease, rights: [...processes.flatMap(process => processRights[process]), ...lease] }
  })
}

/** The ServiceAccounts of both forms. A cluster has those of one. */
export const platformAccounts: readonly PlatformAccount[] = modes.flatMap(accountsOf)
