// The rights of every process by ServiceAccount. In `standalone` one ServiceAccount has those of all three.
import { type Mode, type PlatformProcess, platformProcesses, platformServiceAccount } from '../names.ts'
import { admissionRights } from './admission.ts'
import { brokerRights } from './broker.ts'
import { controllersRights } from './controllers.ts'
import type { Right, Verb } from './right.ts'

export { type Place, type Right, roleRule, type Verb, writingVerbs } from './right.ts'

const own: Readonly<Record<PlatformProcess, readonly Right[]>> = {
  broker: brokerRights,
  controllers: controllersRights,
  admission: admissionRights,
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

/** A ServiceAccount of the platform, which processes run under it, and its rights. */
export type PlatformAccount = {
  readonly name: string
  readonly processes: readonly PlatformProcess[]
  readonly rights: readonly Right[]
}

/** The ServiceAccounts of a mode. */
export function platformAccounts(mode: Mode): readonly PlatformAccount[] {
  const names = [...new Set(platformProcesses.map(process => platformServiceAccount(mode, process)))]
  return names.map(name => {
    const processes = platformProcesses.filter(process => platformServiceAccount(mode, process) === name)
    const lease = processes.some(process => process !== 'admission') ? leaseRights(name) : []
    return { name, processes, rights: [...processes.flatMap(process => own[process]), ...lease] }
  })
}
