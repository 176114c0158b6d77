// Secrets whose names begin with a reserved prefix hold GitHub tokens, credentials for the image registry, the values of
// AppSecrets or credentials of services; only the platform creates, changes and deletes them, each process its own.
// Admission does not see reads: the closed tenant roles refuse those (src/api/tenancy/tenant-roles.ts), and src/authorizer.
import { isReservedSecretName, reservedSecretNames, reservedSecretPrefixes } from '../../../api/reserved-secrets.ts'
import { bindingSecretPrefix } from '../../../api/services/binding-secret.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import { sameJson } from '../../../lib/json/same-json.ts'
import type { PlatformIdentities } from '../../identities.ts'
import { celList, celText, type Rule } from '../../rule.ts'
import { reaping } from '../kinds/writers.ts'

const message = `Secrets named ${reservedSecretNames} belong to the platform: choose another name`

/** Who writes the Secret of a reserved name. */
function writersOf(name: string, { controllers, dataServices }: PlatformIdentities): readonly string[] {
  return name.startsWith(bindingSecretPrefix) ? dataServices : controllers
}

/** The controllers write, and data-services the credentials of services; Kubernetes' reapers delete and change metadata. */
export const reservedSecrets: Rule = {
  name: 'reserved-secrets',
  stops: 'planting a Secret that a controller then fills or trusts, or changing one that holds a token',
  scope: 'tenant-namespaces',
  exempts: reaping,
  matches: [{ group: '', resources: ['secrets'], operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  check({ object, oldObject, operation, username }, identities) {
    const name = textAt(objectAt(object ?? oldObject, 'metadata'), 'name') ?? ''
    if (!isReservedSecretName(name) || writersOf(name, identities).includes(username)) return undefined
    const sameData = operation === 'UPDATE' && sameJson(object?.['data'], oldObject?.['data'])
    if (identities.reapers.includes(username) && (operation === 'DELETE' || sameData)) return undefined
    return message
  },
  policy: identities => ({
    variables: [
      { name: 'secretName', expression: 'object != null ? object.metadata.name : oldObject.metadata.name' },
      {
        name: 'sameData',
        expression: "request.operation == 'UPDATE' && dyn(object).?data == dyn(oldObject).?data",
      },
    ],
    validation: {
      expression: `!${celList(reservedSecretPrefixes)}.exists(prefix, variables.secretName.startsWith(prefix)) || request.userInfo.username in (variables.secretName.startsWith(${celText(bindingSecretPrefix)}) ? ${celList(identities.dataServices)} : ${celList(identities.controllers)}) || (request.userInfo.username in ${celList(identities.reapers)} && (request.operation == 'DELETE' || variables.sameData))`,
      message,
    },
  }),
}
