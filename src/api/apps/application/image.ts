// The fields of an Application that are about its image: whether its tag is followed, and what the platform found out about it.
// Data only.

import { digestPattern } from '../../../lib/text/image-digest.ts'
import { registrySecretPrefix, reservedSecretPrefix } from '../../names.ts'
import { defineReasons } from '../../reasons/reason.ts'
import { timestamp } from '../../schema/fields.ts'
import { flag, integer, list, object, optional, type Rule, text } from '../../schema/schema.ts'
import { nameField } from './process.ts'

/** Applications of one namespace whose tags are followed: as many as a tenant may have by default. */
export const maxFollowed = 50

/** `spec.followTag`. */
export const followTagField = flag({
  description:
    'Set it to `true` to follow the tag that `image` names (`latest` when it names none): the platform asks the registry every few minutes which image the tag means, and runs that one by its digest. A new digest makes a release, like any change. It asks without a credential, and only registries that the platform admins listed. `spec.pinnedRelease` pauses it.',
})

/** `spec.imagePullSecrets`. Nothing of the platform reads these Secrets. */
export const imagePullSecretsField = list(
  text({ description: 'The name of a Secret.', max: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }),
  {
    description:
      'Secrets of the namespace, of the type `kubernetes.io/dockerconfigjson`, with which the nodes pull `image` from a registry that asks for a credential. The platform does not read them. What the platform builds needs none.',
    max: 4,
    unique: 'set',
    rules: [
      {
        rule: `self.all(n, !n.startsWith('${reservedSecretPrefix}') && !n.startsWith('${registrySecretPrefix}'))`,
        message: `names that begin with ${reservedSecretPrefix} or ${registrySecretPrefix} belong to the platform: name a Secret of your own`,
      },
    ],
  },
)

/** What is by its digest cannot move, and what a RemoteSync builds is not under a tag. */
export const followTagRule: Rule = {
  rule: "!has(self.followTag) || !self.followTag || (has(self.image) && !has(self.commit) && !self.image.contains('@'))",
  message:
    'followTag needs an image that is named by a tag: remove followTag where image names a digest (@sha256:…), is omitted, or is set by a RemoteSync (commit)',
  fieldPath: '.followTag',
}

/** The fields of `status`. */
export const imageStatusFields = {
  followedTag: optional(
    object(
      {
        image: text({ description: 'The value of `spec.image`.', max: 512 }),
        digest: text({ description: 'The digest that the registry answered last.', max: 71, pattern: `^${digestPattern}$` }),
        since: timestamp('When it was answered for the first time, after another one.'),
      },
      { description: 'What the tag means that `spec.followTag` follows.' },
    ),
  ),
  imageContents: optional(
    object(
      {
        image: text({ description: 'The image that was read, by digest.', max: 512 }),
        port: optional(integer({ description: 'The port that the image names.', min: 1, max: 65_535 })),
        otherPorts: optional(
          list(integer({ description: 'A TCP port.', min: 1, max: 65_535 }), {
            description: 'The first of the ports that the image names, too, and that were not taken.',
            max: 5,
          }),
        ),
        folder: optional(
          text({
            description:
              'The folder of the image, relative to `/workspace`, that the application is in: commands of the spec start there. Absent for `/workspace` itself.',
            max: 512,
          }),
        ),
        processes: optional(
          list(
            object(
              {
                name: nameField('The name of the process.'),
                type: text({ description: 'The process type of the buildpacks.', max: 64 }),
              },
              { description: 'One process of the image.' },
            ),
            {
              description: 'The processes that buildpacks put into the image; absent when no buildpacks built it.',
              max: 20,
              unique: ['name'],
            },
          ),
        ),
      },
      { description: 'What the platform read from the image, when what runs depends on it.' },
    ),
  ),
}

/** Reasons of the condition Following, and of Ready and Rendered while nothing is known of the tag. */
export const imageReasons = defineReasons({
  ready: {
    TagKnown: 'The registry answered which image the tag means.',
  },
  machine: {
    TagUnreadable:
      'The registry does not say which image the tag means: it does not answer, has no such tag, or lets nobody read it without a credential. The platform asks again.',
  },
  person: {
    RegistryNotFollowed:
      'The platform does not ask this registry. A platform admin lists those that it asks in `SEKISHO_FOLLOWED_REGISTRIES`. Until then name a digest in `spec.image`, without `spec.followTag`.',
    TooManyFollowed: `As many as ${maxFollowed} older Applications of the namespace follow a tag already. Remove \`spec.followTag\` from one of them.`,
  },
})
