// The answers to grants that the broker writes: a person who is signed in gave them on the page of the tenant, after RBAC was
// asked about that person. The broker is the issuer of the ID tokens by which the API server knows people, so that it writes an
// answer in the name of a person gives it no power that it has not anyway (docs/adr/0089-answers-on-the-page-and-break-glass.md).

import { answerWays, grantApproval } from '../../../api/github/grant-approval.ts'
import { parseUserSubject } from '../../../api/names.ts'
import { personPattern } from '../../../api/tenancy/subject-patterns.ts'
import { objectAt, textAt } from '../../../lib/json/json-value.ts'
import type { PlatformIdentities } from '../../identities.ts'
import type { AdmissionRequest } from '../../review.ts'
import { celList, celText } from '../../rule.ts'

const ways: readonly string[] = answerWays

/** Whether it says that it was given on a page, whoever writes it. */
export function saysPage({ object }: AdmissionRequest): boolean {
  return ways.includes(textAt(objectAt(object, 'spec'), 'via') ?? '')
}

/** The CEL twin of `saysPage`. */
export const saysPageExpression = `dyn(object).?spec.?via.orValue('') in ${celList(ways)}`

/** A new answer that the broker writes for a person, and for nobody else. */
export function isAnswerOfPage(request: AdmissionRequest, { brokers }: PlatformIdentities): boolean {
  const { operation, group, resource, username, object } = request
  if (operation !== 'CREATE' || group !== grantApproval.group || resource !== grantApproval.plural) return false
  return (
    brokers.includes(username) &&
    saysPage(request) &&
    parseUserSubject(textAt(objectAt(object, 'spec'), 'requestedBy') ?? '') !== undefined
  )
}

/** CEL: a person is named as the author. */
export const namesPersonExpression = `dyn(object).?spec.?requestedBy.orValue('').matches(${celText(personPattern)})`

/** The CEL twin of `isAnswerOfPage`. */
export function isAnswerOfPageExpression({ brokers }: PlatformIdentities): string {
  return [
    "request.operation == 'CREATE'",
    `request.resource.group == ${celText(grantApproval.group)}`,
    `request.resource.resource == ${celText(grantApproval.plural)}`,
    `request.userInfo.username in ${celList(brokers)}`,
    saysPageExpression,
    namesPersonExpression,
  ].join(' && ')
}
