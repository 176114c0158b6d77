// The ways in which the subjects of a RepositoryGrant may use it, and what the delivery by a Secret needs beside.
import { defineReasons } from '../../reasons/reason.ts'
import { maxTokenSecretAccount, tokenSecretName } from '../../reserved-secrets.ts'
import { choice, choiceOfThisVersion, object, optional } from '../../schema/schema.ts'
import { gitField, gitRule } from './git.ts'

export const grantDeliveries = ['TokenEndpoint', 'GitProxy', 'Secret'] as const
export type GrantDelivery = (typeof grantDeliveries)[number]

/** Only a rule of a ClusterGrantPolicy that names it allows this one. */
export const optInDelivery = 'Secret' satisfies GrantDelivery

/** What such a Secret looks like, by who reads it. */
const tokenSecretFormats = ['BasicAuth', 'DockerConfig', 'ArgoCDRepository'] as const
export type TokenSecretFormat = (typeof tokenSecretFormats)[number]

const example = tokenSecretName('ACCOUNT', 'GRANT')

/** In the spec of a grant. */
export const deliveryFields = {
  delivery: choiceOfThisVersion(grantDeliveries, {
    description: `How a subject uses the grant. \`TokenEndpoint\`: it requests a token from the token endpoint of the platform. \`GitProxy\`: it clones, fetches and pushes through the git proxy of the platform and never gets a token. \`Secret\`: the platform keeps a token in the Secret \`${example}\`, which only pods of the subject may refer to; a ClusterGrantPolicy has to allow it.`,
    default: 'TokenEndpoint',
  }),
  git: gitField,
  secret: optional(
    object(
      {
        format: choice(tokenSecretFormats, {
          description:
            'What the Secret contains. `BasicAuth`: `username`, `password` and `token`, for git and Flux. `DockerConfig`: a pull secret for the container registry of the GitHub host. `ArgoCDRepository`: a repository of Argo CD.',
          default: 'BasicAuth',
        }),
      },
      { description: 'For the delivery `Secret`: how it is written.' },
    ),
  ),
}

/** About the whole spec. */
export const deliverySpecRules = [
  gitRule,
  {
    rule: "self.delivery == 'Secret' || !has(self.secret)",
    message: 'secret belongs to the delivery Secret: leave it out, or set delivery: Secret',
    reason: 'FieldValueInvalid',
    fieldPath: '.secret',
  },
  {
    rule: `self.delivery != 'Secret' || self.subjects.all(s, s.kind == 'Application' || (s.kind == 'ServiceAccount' && s.name.size() <= ${maxTokenSecretAccount}))`,
    message: `subjects of the delivery Secret must be Applications or ServiceAccounts, whose names have at most ${maxTokenSecretAccount} characters`,
    reason: 'FieldValueInvalid',
    fieldPath: '.subjects',
  },
  {
    rule: "!has(self.secret) || self.secret.format != 'ArgoCDRepository' || self.repositories.size() == 1",
    message: 'repositories must name one repository: a Secret of the format ArgoCDRepository is one repository of Argo CD',
    reason: 'FieldValueInvalid',
    fieldPath: '.repositories',
  },
] as const

/** About the whole object: the name of the Secret ends with that of the grant. */
export const deliveryNameRule = {
  rule: "self.spec.delivery != 'Secret' || (self.metadata.name.size() <= 63 && !self.metadata.name.contains('.'))",
  message: 'metadata.name of a grant with the delivery Secret must have at most 63 characters and no dot',
} as const

/** Of the condition `Delivered`. */
export const deliveryReasons = defineReasons({
  ready: {
    SecretWritten: 'The Secret of each subject holds a token, and the platform renews it before it ends.',
  },
  machine: {
    TokenNotIssued: 'The token desk did not issue the token for the Secret. The message says why; the platform tries again.',
  },
  person: {
    NameTaken:
      'The namespace has a Secret of the name that the platform needs, which it did not make. A platform admin has to delete that Secret.',
    SubjectNotFound: 'There is no ServiceAccount of the name in `spec.subjects`. Create it.',
  },
  failed: {
    RefusedByCluster: 'The API server refused the Secret, for example because a quota is exhausted. The message names the cause.',
  },
})
