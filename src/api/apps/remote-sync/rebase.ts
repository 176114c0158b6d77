// What a RemoteSync says in its status about the build that gives its image a newer run image.
import { integer, object, optional, text } from '../../schema/schema.ts'

export const rebaseField = object(
  {
    build: text({ description: 'The name of the build that replaces the run image.', max: 253 }),
    runImage: text({ description: 'The digest of the run image that the image gets.', max: 128 }),
    attempt: optional(
      integer({
        description: 'Which attempt it is, when the platform or the registry did not answer before. The third one is the last.',
        min: 2,
        max: 3,
      }),
    ),
    image: optional(text({ description: 'The image that came of it, or of the one before, by digest.', max: 512 })),
    former: optional(
      object(
        {
          image: text({ description: 'The image, by digest.', max: 512 }),
          runImage: text({ description: 'The digest of its run image.', max: 128 }),
        },
        {
          description:
            'What the image came of. It is the image again when the release of the new one is rolled back or its release job fails.',
        },
      ),
    ),
    failure: optional(
      text({
        description:
          'Why the image does not have the run image. It is not tried again for this run image; the next build of a commit has it.',
        max: 2048,
      }),
    ),
  },
  { description: 'Set when the builder had a newer run image than `image`: it is replaced without a build of the commit.' },
)
