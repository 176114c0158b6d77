// Last part: a cluster administrator opens a wall by a role that is too wide. The platform says so within one look at its walls,
// and says that it holds again when the role is gone. The role is for connections to a pod that does not exist, so that it opens
// nothing for anybody while the demo runs. RBAC alone refuses those; a right to read a reserved Secret would open nothing here,
// because the authorizer denies that before RBAC is asked.
import type { Tenant } from '../../../src/api/tenancy/tenant.ts'
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type AdminClient, adminClientFor } from '../../cluster/control-plane/admin-client.ts'
import { tenantNamespace } from '../context.ts'
import type { Step } from '../steps.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const name = 'demo-too-wide'
/** The platform connects to a pod of this name as a ServiceAccount without rights (src/services/wall-probe/attempts.ts). */
const pod = 'wall-probe'
const roles = `/apis/${apiVersion}/namespaces/${tenantNamespace}`

const role = {
  apiVersion,
  kind: 'Role',
  metadata: { name, namespace: tenantNamespace },
  rules: [{ apiGroups: [''], resources: ['pods/portforward'], resourceNames: [pod], verbs: ['create'] }],
}
const binding = {
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name, namespace: tenantNamespace },
  roleRef: { apiGroup, kind: 'Role', name },
  subjects: [{ apiGroup, kind: 'Group', name: 'system:serviceaccounts' }],
}

async function close(admin: AdminClient): Promise<void> {
  for (const plural of ['rolebindings', 'roles']) await admin.request('DELETE', `${roles}/${plural}/${name}`)
}

/** Resolves to the message of the condition `WallsHold` of acme once it has the status. */
function wallsHold(admin: AdminClient, status: 'True' | 'False'): Promise<string> {
  return waitUntil(
    `acme to say that WallsHold is ${status}`,
    async () => {
      const path = `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${tenantNamespace}`
      const { status: now } = (await admin.call('GET', path)) as Tenant
      const condition = now?.conditions?.find(({ type }) => type === 'WallsHold')
      if (condition?.status === status) return condition.message
      throw new Error(condition === undefined ? 'there is no condition' : `${condition.status}: ${condition.message}`)
    },
    { timeoutMilliseconds: limits.build },
  )
}

/** @param kubeconfig Of a cluster administrator. */
export function wallSteps(kubeconfig: string): readonly Step[] {
  return [
    {
      title:
        'a cluster administrator gives a right to connect to a pod to all ServiceAccounts: the alarm is raised, and ends with it',
      run: async () => {
        const admin = await adminClientFor(kubeconfig)
        try {
          await close(admin)
          const before = await wallsHold(admin, 'True')
          await admin.apply(`${roles}/roles/${name}`, role)
          await admin.apply(`${roles}/rolebindings/${name}`, binding)
          const alarm = await wallsHold(admin, 'False')
          await close(admin)
          await wallsHold(admin, 'True')
          return `before: ${before}\nthen: ${alarm}\nit holds again`
        } finally {
          await close(admin)
          await admin.close()
        }
      },
    },
  ]
}
