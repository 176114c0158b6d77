// Whether an installation on GitHub is bound and ready now, by its identity there: found by an index, whatever the number of
// tenants.
import type { Installation } from '../../api/github/installation.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import type { InstallationIdentity } from '../../store/token-registry.ts'

const byIdentity = 'token-desk/installation-identity'
const textOf = (host: string, installationId: number): string => `${host}/${installationId}`

/** Call once, before the manager starts. */
export function readyInstallations(
  installations: Pick<Cache<Installation>, 'addIndex' | 'byIndex'>,
): (installation: InstallationIdentity) => boolean {
  installations.addIndex(byIdentity, ({ spec }) => [textOf(spec.account.host, spec.installationId)])
  return ({ host, appId, installationId }) =>
    installations
      .byIndex(byIdentity, textOf(host, installationId))
      .some(({ status }) => status?.appId === appId && findCondition(status.conditions, 'Ready')?.status === 'True')
}
