// How many RepositoryGrants a policy decided, in its status: what a dry run of a change can say about its reach.
import { integer, list, object, optional, text } from '../../schema/schema.ts'

const counted = (description: string) => integer({ description, min: 0, max: Number.MAX_SAFE_INTEGER })

const counts = {
  approved: counted('How many of them are approved.'),
  waiting: counted('How many of them wait for people.'),
  denied: counted('How many of them are denied.'),
}

/** By decision. */
export type GrantCounts = Readonly<Record<keyof typeof counts, number>>

/** In both kinds of policies. */
export const grantCountsField = optional(
  object(
    {
      ...counts,
      rules: optional(
        list(
          object(
            { name: text({ description: 'The name of the rule.', max: 63 }), ...counts },
            { description: 'The RepositoryGrants whose decision names one rule. A decision can name several.' },
          ),
          { description: 'The same for each rule of the policy that a decision names.', max: 100, unique: ['name'] },
        ),
      ),
    },
    {
      description:
        'The RepositoryGrants that have not expired and whose `status.rule` names a rule of this policy; in mode `Audit` those whose `status.audit` names one, by the decision that there would be. Counted every minute; a name that was cut off at the end of a long `status.rule` is not counted.',
    },
  ),
)
