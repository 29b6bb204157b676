# ruleid: sh-eval-variable
eval "$1"
# ruleid: sh-eval-variable
eval $user_input
# ok: sh-eval-variable
eval "$(ssh-agent -s)"
# ok: sh-eval-variable
eval "set -- $options"
