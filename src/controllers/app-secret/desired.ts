// The Secret that holds the values of an AppSecret for pods of its namespace. Pure. Admission keeps tenants from writing it;
// RBAC from reading it.
import type { AppSecret } from '../../api/apps/app-secret.ts'
import { type Secret, secrets } from '../../api/builtin/index.ts'
import { appSecretSecretName, labels } from '../../api/names.ts'
import type { Applied } from '../../kube/client/client.ts'
import { ownerReference } from '../../kube/object/owner.ts'
import { sameJson } from '../../lib/json/same-json.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import { type Versions, versionsAnnotation } from './decide.ts'

/** To apply. Its values are plain base64: pass it to the client and to nothing else. */
export function desiredSecret(
  appSecret: AppSecret,
  values: Readonly<Record<string, SecretString>>,
  versions: Versions,
): Applied & Pick<Secret, 'data'> {
  const { apiVersion, kind } = secrets
  const { namespace = '', name } = appSecret.metadata
  return {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name: appSecretSecretName(name),
      labels: { [labels.managedBy]: 'sekisho' },
      annotations: { [versionsAnnotation]: JSON.stringify(versions) },
      ownerReferences: [ownerReference(appSecret, { controller: true })],
    },
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value.reveal(), 'utf8').toString('base64')]),
    ),
  }
}

/** Whether the Secret has exactly these values and versions, so that nothing has to be written. */
export function isAsDesired(secret: Secret | undefined, desired: ReturnType<typeof desiredSecret>): boolean {
  return (
    secret !== undefined &&
    secret.metadata.annotations?.[versionsAnnotation] === desired.metadata.annotations?.[versionsAnnotation] &&
    sameJson(secret.data ?? {}, desired.data)
  )
}
