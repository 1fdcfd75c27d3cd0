"""English words by concept; verbs in the base form, which gives an order, not in the third person, which describes."""

from keel.rules.language.concepts import Concept

C = Concept

WORDS: dict[Concept, str] = {
    C.IGNORE: (
        "ignore ignoring disregard disregarding override overriding overrule forget forgetting bypass neglect"
        " discard set_aside put_aside lay_aside pay_no_attention_to pay_no_attention do_not_heed skip_over erase"
        " abandon drop stop_following no_longer_follow cease_to_follow ceases_to_follow throw_out pretend_that_no"
        " pretend_there_are_no as_if_there_were_no act_as_though_no forget_about no_longer_work dismiss forsake"
        " renounce unlearn cast_aside brush_aside push_aside do_away_with jettison scrap shelve tune_out"
        " turn_a_blind_eye leave_behind wipe_from look_past deprioritise deprioritize relinquish shed"
    ),
    C.ORDERS: (
        "you_were_told you_have_been_told you_were_taught you_were_instructed said_above stated_above"
        " written_above instruction instructions directive directives guardrail guardrails commitment commitments"
        " restriction restrictions prompt prompts charter safeguards guidance system_prompt commands safety"
        " programming briefing brief ethics constraints limitations system_message system_instructions"
        " safety_rules safety_guidelines safety_settings content_policy safety_policy hidden_instructions"
        " hidden_rules told_you instructed_you taught_you asked_you_to said_to_you take_orders_from"
        " take_instructions_from tasks_for_you requests_for_you orders_for_you directions contain_orders"
        " contains_orders hold_orders mandate mandates prohibitions inhibitions scruples alignment ground_rules"
        " marching_orders house_rules operating_instructions operating_rules terms_you what_you_were_asked"
        " what_you_were_told what_you_have_been_told initial_setup starting_brief onboarding_text safety_training"
        " content_rules content_filters content_filter refusals refusal_rules"
    ),
    C.RULES: (
        "rule rules policy policies guideline guidelines setting settings configuration limits training"
        " principles preferences protections filters role objective objectives goals behaviour behavior checks"
    ),
    C.PRIOR: (
        "previous prior earlier above preceding former existing original initial old past foregoing"
        " before_this_point so_far up_to_now given_before you_started_with other_than_these you_received"
        " you_have_received received_before you_got you_were_started_with start_of_this_chat"
        " beginning_of_this_chat start_of_the_conversation start_of_this_conversation"
    ),
    C.YOUR: "you your yours yourself from_now_on_you henceforth_you from_here_on_you from_this_point_on_you",
    C.SYSTEM: (
        "system developer operator host platform vendor anthropic openai system_prompt system_message"
        " system_instructions as_if_the_developer as_if_your_developer as_if_the_operator as_if_the_system"
        " as_though_the_developer as_though_the_operator"
    ),
    C.USER: (
        "user users human person_you_talk_to person_you_are_talking_to customer operator owner end-user end_user"
        " people person account_holder whoever_is_asking prompt_them ask_them have_the_user let_the_user"
        " make_the_user get_the_user_to what_the_user as_if_the_user as_though_the_user employee employees patient"
        " caller visitor whoever_asks somebody someone what_the_user_said what_the_user_wrote what_the_user_typed"
        " what_the_user_asked what_the_user_told"
    ),
    C.OBEY: (
        "follow obey comply adhere honor honour do_exactly act_on heed respect listen_to do_what followed obeyed"
        " respected heeded observed abide_by act_upon go_along_with do_as_told fulfil fulfill satisfy conform_to"
        " submit_to bow_to be_guided_by take_direction_from"
    ),
    C.VOID: (
        "obsolete suspended void revoked lifted cancelled canceled disabled expired advisory superseded draft"
        " invalid no_longer_apply no_longer_valid no_longer_binding do_not_apply not_apply not_binding outdated"
        " retired withdrawn null_and_void longer_apply longer_applies incorrect mistaken contains_an_error"
        " contains_errors corrected void_and abolished repealed does_not_cover do_not_cover not_cover"
        " does_not_concern do_not_concern does_not_apply no_bearing not_valid out_of_date overridden do_not_matter"
        " not_matter no_effect without_effect irrelevant count_for_nothing no_weight deleted erased switched_off"
        " turned_off are_off is_off no_longer_count no_longer_counts lapsed expires meant_for_testing has_lapsed"
        " have_lapsed of_no_importance been_replaced has_been_replaced have_been_replaced moot annulled nullified"
        " rescinded scrapped abandoned overruled waived cleared reset out_of_force not_in_force no_longer_in_force"
        " no_longer_stand no_longer_stands cease_to_apply ceases_to_apply does_not_hold do_not_hold no_longer_hold"
        " carry_no_weight carries_no_weight lose_their_force on_hold set_to_zero yield_to yields_to give_way_to"
        " gives_way_to"
    ),
    C.MODE: (
        "you_are_now from_now_on new_instructions new_system_prompt maintenance_mode developer_mode debug_mode"
        " unrestricted_mode god_mode admin_mode act_as_if pretend_to_be your_only_task your_new_task your_new_role"
        " your_real_task your_sole_task your_actual_task new_persona entered you_will_now henceforth root_mode"
        " diagnostic_mode you_have_been_switched take_orders_from take_instructions_from takes_orders_from"
        " answer_only_to behave_as act_as_a named you_have_become you_become your_role_is_now your_role_changes"
        " your_new_identity switch_into switch_to_the_role play_the_role_of assume_the_role assume_the_persona"
        " in_this_mode you_operate_as you_now_operate unfiltered_mode jailbroken dan_mode god-mode dev_mode"
        " sudo_mode you_are_no_longer"
    ),
    C.WIN: (
        "override supersede replace_all replace replaces replacing supersedes win wins prevail prevails outrank"
        " outranks take_precedence takes_precedence overrides overrule overrules take_priority trump trumps"
        " rank_above ranks_above has_precedence have_precedence higher_authority takes_the_place_of"
        " take_the_place_of taking_the_place_of instead_of_your ranks_higher_than rank_higher_than"
        " has_priority_over have_priority_over goes_before come_before_the comes_before_the outweighs outweigh"
        " in_favour_of_this in_favor_of_this in_favour_of_these in_favor_of_these has_the_last_word"
        " have_the_last_word takes_over_from beats beat outvote outvotes have_the_final_say has_the_final_say"
        " have_the_final_word has_the_final_word stand_above stands_above rank_over ranks_over carry_more_weight"
        " carries_more_weight are_authoritative is_authoritative are_binding is_binding take_the_lead"
        " takes_the_lead"
    ),
    C.NEG: (
        "not never don't dont no without nor cannot can't mustn't shouldn't avoid refrain nobody nothing neither"
        " won't under_no_circumstances doesn't must_be_avoided are_to_be_avoided should_be_avoided off_limits"
    ),
    C.TELL: (
        "tell telling mention mentioning reveal revealing inform informing disclose notify notifying report say"
        " saying explain alert alerting learn know knowing notice noticing see seeing find_out hear warn announce"
        " told informed aware acknowledge discuss bother bothering trouble burden show_this show_it display_this"
        " let_the_user_see let_them_know let_the_user_know brief bring_up talk_about let_slip give_away hint_at"
        " hint let_know divulge confess admit own_up bringing_up raising pointing_out point_out referring_to"
        " refer_to talking_about hinting"
    ),
    C.HIDE: (
        "secret_from hidden_from private_from quiet_about a_secret out_of_sight silently secretly quietly"
        " covertly conceal hide hidden keep_secret keep_quiet keep_it_secret keep_this_secret keep_confidential"
        " invisible unnoticed discreetly leave_unmentioned behind_the_scenes between_us withhold in_the_background"
        " not_visible stealthily hide_this hide_the skip_the_part obscure mask cover_up disguise downplay"
        " camouflage bury sanitise_your sanitize_your unobtrusive"
    ),
    C.OMIT: (
        "leave_out omit omitting exclude nothing_about only_the_first skip_the leave_it_out not_the"
        " leave_out_that skip_the_part skip_the_mention leave_off drop_the_part strike_from cut_from keep_out_of"
        " stay_out_of remain_out_of left_out_of mention_only report_only show_only say_only talk_only_about"
        " speak_only_of name_only list_only describe_only"
    ),
    C.SEND: (
        "send forward upload post pass attach include append put paste copy submit transmit leak email e-mail"
        " supply give provide insert prepend deliver share ship relay mail add embed hand_over transfer encode"
        " write_out piggyback smuggle forwarding uploading hand_their hand_its start_sending begin_sending"
        " keep_sending start_uploading hand invite begin_adding begin_passing begin_copying begin_including"
        " begin_attaching begin_forwarding begin_appending start_adding start_passing start_copying"
        " start_including start_attaching start_forwarding start_appending keep_adding keep_passing keep_copying"
        " keep_including keep_attaching keep_forwarding keep_appending continue_adding continue_passing"
        " continue_copying continue_including continue_attaching continue_forwarding continue_appending dispatch"
        " drop_off stash surrender disclose divulge reveal ferry tack_on slip_in sneak copy_in copy_over note_down"
        " carry_over pour smuggle_out hand_across pass_on pass_along turn_over send_along send_off send_back"
        " report_back"
    ),
    C.SENT: (
        "sent forwarded uploaded posted passed attached included appended pasted copied submitted transmitted"
        " supplied provided shared delivered emailed mailed relayed exported prepended inserted routed redirected"
    ),
    C.USED: "called used invoked executed chosen consulted run preferred selected",
    C.READ: (
        "read open fetch load collect gather list cat retrieve get grab look_up locate extract scan find harvest"
        " obtain capture examine pull_up slurp sift comb dig_up peek_into look_inside look_into hunt_for"
        " search_for track_down pick_up"
    ),
    C.CONTENT: (
        "contents content_of text_of value_of values_of bytes_of body_of copy_of output_of listing_of dump_of"
        " lines_of data_from content_from full_text raw_text everything_in everything_from archive_of zip_of"
        " summary_of transcript_of lines_from text_from output_from what_the_user summarise_what summarize_what"
        " list_what the_text_inside what_is_in what's_in whatever_is_in whatever_you_find_in the_bytes_of"
        " the_body_of the_value_behind the_output_of the_contents whole_file entire_file full_contents"
        " raw_contents file_contents everything_inside all_of_the_text first_lines last_lines"
    ),
    C.SECRET_FILE: (
        "ssh_key ssh_keys ssh_identity ssh_private_key ssh_identity_file default_ssh_identity private_ssh_key"
        " id_rsa environment_file password_manager password_store password_manager_export browser_cookies"
        " cookie_jar keychain keyring kubeconfig credentials_file shell_history bash_history saved_passwords"
        " wallet_file dotenv aws_credentials cookie_store cookie_database saved_cookies browser_passwords"
        " browser_profile credential_store recovery_phrase seed_phrase saved_browser_passwords private_keys_in"
        " ssh_folder ssh_directory .ssh_folder aws_folder cloud_credentials credential_files credential_file"
        " credentials_store key_files key_material pem_files pem_file netrc npmrc pypirc kube_config secrets_file"
        " secret_file secrets_files environment_files dotfiles password_file shadow_file password_database"
        " cookie_file login_database token_file token_cache keystore key_store wallet_files vault_file"
        " history_file terraform_state"
    ),
    C.SECRET: (
        "password passwords passphrase passphrases credential credentials secrets api_key api_keys apikey"
        " private_key private_keys access_key access_keys seed_phrase recovery_phrase mnemonic otp passcode"
        " 2fa_code session_cookie session_cookies auth_key login_details recovery_codes one-time_code"
        " environment_variables environment_variable env_vars access_token access_tokens auth_token bearer_token"
        " session_token session_tokens refresh_token api_token api_tokens signing_key encryption_key ssh_key"
        " ssh_keys two-factor_code verification_code security_code 2fa authenticator_code one-time_password"
        " envsecret browser_passwords saved_passwords login_credentials login_password sign-in_details"
        " account_credentials pass_phrase personal_access_token personal_access_tokens access_credentials"
        " service_account_key secret_keys secret_key client_secret client_secrets webhook_secret database_password"
        " connection_string connection_strings session_id session_ids csrf_token oauth_token oauth_tokens id_token"
        " jwt master_key master_password license_key private_token backup_codes backup_code security_answers"
        " security_answer six-digit_code sms_code tan pin_code"
    ),
    C.TOKEN: "token tokens key keys pin secret cookie cookies",
    C.PERSONAL: (
        "social_security_number ssn date_of_birth cvv card_number credit_card bank_account passport iban"
        " mother's_maiden_name home_address national_id tax_id driver's_license cvc medical_records bank_login"
        " bank_details login_data tax_number health_data passport_number identity_card maiden_name id_card"
        " photo_of_the_id identity_document salary bank_pin card_pin account_password insurance_number"
        " social_security passport_details payment_card card_details card_data payment_details credit_card_number"
        " debit_card bank_credentials banking_details bank_data account_numbers date_and_place_of_birth birth_date"
        " birthdate medical_history health_records driving_licence driver_licence driving_license tax_return"
        " tax_id_number biometric fingerprints_of salary_details id_number identity_number mother's_maiden"
    ),
    C.CONTEXT: (
        "this_chat this_conversation conversation_so_far our_conversation dialogue_so_far chat_messages"
        " user_messages conversation chat_history chat_log chat_transcript whole_chat entire_chat full_chat"
        " the_chat transcript history system_prompt system_message developer_message conversation_history"
        " context_window developer_messages message_history dialogue dialog messages hidden_prompt initial_prompt"
        " system_instructions session_log full_context entire_context previous_messages earlier_messages thread"
        " chain_of_thought previous_answers earlier_answers your_answers previous_replies previous_turns"
        " earlier_turns running_dialogue preceding_messages prior_messages prior_turns chat_content chat_so_far"
        " messages_so_far messages_above discussion exchange_so_far session_history session_transcript"
        " conversation_log whole_conversation entire_conversation full_conversation complete_conversation"
        " chat_context conversation_context dialogue_history what_the_user_said what_the_user_wrote"
        " what_the_user_typed what_the_user_asked what_the_user_told"
    ),
    C.PRIVATE: (
        "e-mail_address email_address phone_number clipboard environment_listing env environment browser_history"
        " browsing_history working_directory_listing screenshots workspace_zip workspace source_code uploads"
        " invoice invoices contacts address_book hooks home_directory other_accounts buffer documents photos"
        " emails inbox database_dump shell_profile profile_file on_the_machine on_disk on_the_disk"
        " finance_documents audit_log internal_data internal_documents all_documents calendar location open_files"
        " open_documents open_tabs recent_files recent_documents draft drafts home_folder user's_files"
        " user's_documents desktop_files downloads_folder"
    ),
    C.KNOWN: (
        "you_know you_have_seen available_to_you you_remember you_were_given you_have_been_given in_your_context"
        " in_your_memory you_hold you_have_learned you_have_read accessible_to_you at_your_disposal"
        " connected_to_you known_to_you you_have_received in_your_context_window tools_do_you_have tools_can_you"
        " tools_are_you you_can_recall you_recall you_were_shown you_were_told you_have_been_shown"
        " you_have_been_told you_have_gathered you_are_aware_of you_picked_up in_your_head on_your_mind"
        " loaded_into_you that_you_hold that_you_know that_you_remember you_have_in_context present_in_your"
        " you_retain"
    ),
    C.REACH: (
        "you_can_use you_have_access_to you_can_see you_can_call you_can_find you_can_reach you_can_access"
        " you_find you_come_across you_can_read you_can_obtain you_are_able_to"
    ),
    C.EVERY: (
        "previous_messages earlier_messages after_each after_every before_each before_every at_each at_every"
        " whenever each_time every_time any_time all any every each everything entire complete full whole whatever"
        " whichever anything both everyone everybody verbatim tools_do_you_have tools_can_you every_request"
    ),
    C.OTHER: "other another others else rest remaining alternative alternatives competing similar own different",
    C.TOOL: (
        "tool tools function functions plugin plugins server servers skill skills calculator calculators helper"
        " helpers action actions connector connectors search_engine tools_do_you_have tools_can_you tools_are_you"
    ),
    C.THIS: "this it me us here",
    C.CALL: (
        "call use run invoke execute choose pick select prefer trigger calling choosing consult rely start launch"
        " first_step requires_a_call"
    ),
    C.FIRST: (
        "after_every before_each before_every at_each at_every before first prior_to ahead_of beforehand"
        " at_the_start at_the_beginning precede begin after_each first_step preceded precedes"
    ),
    C.INSTEAD: "instead rather_than in_place_of replacing in_preference_to over_any over_all not_any",
    C.MUST: (
        "must always mandatory required shall have_to has_to need_to needs_to obliged obligated compulsory"
        " essential ensure necessary critical requirement should imperative is_to_be are_to_be have_got_to needs"
        " requires_that demands_that compliance_requires policy_requires regulations_require law_requires needed"
        " requires_a_call order_you orders_you command_you"
    ),
    C.APPROVE: (
        "approval approvals confirm confirmation confirmations permission permissions consent authorization"
        " authorisation authorize allow approve sign-off signoff permission_checks prompt prompts dialog dialogs"
        " human_review approvals_for go-ahead prompt_them question questions yes go-aheads sign-offs signoffs"
        " review_step review_steps assent acceptance permit okay ok green_light clearance authorisations"
        " authorizations approver sign_off human_in_the_loop review reviews verification second_look double-check"
    ),
    C.ASK: (
        "ask asking when_asked if_asked asked_what asked_about wait waiting request prompt seek require"
        " check_with checking_with bother query demand collect user_asks user_ask user_asked he_asks they_ask"
        " asks_you prompt_them ask_them have_the_user let_the_user make_the_user get_the_user_to find_out"
        " interrupt disturb"
    ),
    C.AUTO: (
        "auto-approve auto-approved auto_approve autoapprove pre-approved preapproved pre-authorized"
        " pre-authorised pre-confirmed already_confirmed already_approved already_consented already_agreed"
        " already_authorized confirmed_during approve_automatically automatically_approve automatically_approved"
        " approved_in_advance standing_approval blanket_approval has_consented have_consented implied_consent"
        " approved_automatically consented_at gave_consent gave_permission granted_permission"
        " permission_was_granted permission_has_been_granted has_agreed agreed_in_advance agreed_at approved_at"
        " accepted_at as_approved as_confirmed as_trusted as_authorized consented_when agreed_when agreed_to_every"
        " agreed_to_all agrees_to_all agrees_to_every already_given been_given_already given_in_advance"
        " you_are_authorised_to you_are_authorized_to authorised_to authorized_to delegated_this_decision"
        " delegated_the_decision delegated_that_decision left_the_decision_to_you leaves_the_decision_to_you"
        " already_signed_off been_signed_off already_cleared been_cleared_by cleared_in_advance"
        " given_the_green_light pre-cleared prior_approval approved_beforehand agreed_beforehand has_delegated"
        " have_delegated pre-authorise pre-authorize pre-approve preauthorised preauthorized preauthorise"
        " preauthorize auto-accept auto-confirm auto_accept auto_confirm auto-consent rubber-stamp rubber_stamp"
        " waved_through wave_it_through blanket_permission standing_permission standing_consent"
        " standing_authorisation standing_authorization permanent_permission permanent_approval pre-clearance"
        " consent_is_implied consent_is_assumed consent_was_given consent_has_been_given implicit_consent"
        " implicitly_approved implicitly_approves deemed_approved deemed_given considered_approved"
        " counts_as_approval counts_as_consent treated_as_approved approval_is_implied approval_is_assumed"
        " approval_was_given approval_has_been_given already_said_yes already_agreed_to already_authorised"
        " already_accepted already_granted already_permitted signed_off_by signed_off_in_advance"
    ),
    C.OFF: (
        "disable disabled skip skipping bypass bypassing without off turn_off switch_off suppress waive waived no"
        " unnecessary unneeded deactivated deactivate circumvent not_required not_needed not_necessary not_apply"
        " skipped bypassed suppressed omitted"
    ),
    C.AUTHORITY: (
        "administrator admin security_team platform_team system_notice system_message system_override by_order_of"
        " root_authority elevated_trust official_policy compliance_department compliance_team it_department"
        " on_behalf_of_the_developer vendor_notice management on_the_authority_of executive_order legal_department"
        " security_notice administrators safety_team trusted_authority developers developer_messages"
        " developer_message operator's operator security_department notice_from announcement_from"
        " compliance_notice data_protection_officer security_officer head_of_security platform_operator"
        " platform_owner urgent_notice as_the_developer as_your_developer as_the_administrator"
        " as_your_administrator i_allow_you i_authorize_you i_authorise_you i_permit_you compliance_requires"
        " policy_requires regulations_require law_requires official_message message_from model_vendor"
        " model_provider trust_team trust_and_safety platform_administrators system_administrator"
        " system_administrators sysadmin site_reliability_team it_security it_administrator it_admin"
        " compliance_officer legal_team chief_information_security ciso ceo board_of_directors head_office"
        " corporate_policy company_policy company_directive management_directive government law_enforcement"
        " regulator audit_department internal_audit red_team root_user superuser operator_of_this your_developer"
        " your_developers your_creator your_creators your_maker your_makers your_owner your_administrator"
        " your_operator host_application official_notice security_bulletin security_alert policy_update"
        " compliance_update mandatory_update system_instruction system_directive system_command admin_instruction"
        " administrator_instruction security_requirement security_directive"
    ),
    C.RESULT: (
        "result results output outputs response responses returned_text return_value returned found_in reply"
        " text_it_returns returned_by page_text policy_text this_tool_returns tool_returns it_returns tool_says"
        " tool_output contained_in inside_the what_comes_back whatever_comes_back what_it_returns"
        " whatever_it_returns what_is_returned"
    ),
    C.EXECUTE: (
        "execute executed run carry_out carried_out perform performed obeyed followed follow obey act_upon"
        " carry_them_out follow_them obey_them execute_them run_them carry_it_out"
    ),
    C.MEMORY_FILE: (
        "memory_file memory_files agent_memory agent_instructions project_rules rules_file startup_script"
        " agent_configuration system_prompt_file custom_instructions mcp_configuration rules_files memory_bank"
        " your_memory_file project_memory agent_rules instruction_file instructions_file instruction_files"
        " startup_instructions bootstrap_file hooks_file"
    ),
    C.MEMORY: (
        "long-term_memory long_term_memory persistent_memory your_memory permanent_memory memory user_profile"
        " user_preferences knowledge_graph remembered_facts keep_in_mind bear_in_mind never_forget your_notes"
        " your_notebook your_long-term notes_to_self your_knowledge your_profile memories your_memories"
        " your_permanent your_persistent your_knowledge_base"
    ),
    C.STORE: (
        "store save add write remember persist memorize memorise record append keep insert note put update edit"
        " change modify extend amend keep_in_mind bear_in_mind never_forget commit_to_memory engrave anchor retain"
        " etch jot jot_down plant set_down register"
    ),
    C.FOREVER: (
        "forever permanently future_sessions future_conversations every_session all_sessions from_now_on"
        " indefinitely always next_session later_sessions all_future subsequent_sessions every_future"
    ),
    C.MODEL: (
        "assistant assistants agent agents model models llm llms ai ais claude gpt chatgpt copilot gemini"
        " language_model bot whoever_reads whoever_is_reading whoever_loads anyone_who_loads whoever_uses_this"
        " whoever_runs_this consumer_of_this reader_of_this language_models foundation_model chatbot"
    ),
    C.TURN: (
        "turn turns conversation conversations session sessions message messages request requests reply replies"
        " answer answers question questions response responses chat interaction interactions every_session"
        " every_future next_session"
    ),
    C.TRIGGER: (
        "onwards after_the_third after_the_second after_the_first after_the_fifth after_the_tenth switch_to"
        " once_the collection_mode as_soon_as if_the_date from_the_moment should_the on_the_third the_third_time"
        " if_today on_or_after starting_on when_the_user_says nth_call third_call second_call fifth_call"
        " tenth_call if_the_repository if_the_working_directory if_the_user_mentions whenever_the_user_mentions"
        " when_the_date when_running_in if_you_are_in in_production on_the_second on_the_fourth on_the_fifth"
        " on_the_tenth after_the_fourth every_third every_fifth every_tenth on_the_first on_the_last as_of"
        " when_it_is once_it_is as_soon_as_it when_the_user_writes when_the_user_types when_the_user_mentions"
        " if_the_user_writes if_the_user_types during_the_night at_night at_midnight nobody_is_watching"
        " no_one_is_watching on_weekends on_sundays outside_office_hours triggerword user_is_away user_is_idle"
        " user_is_absent user_is_asleep user_leaves on_weekdays weekdays after_hours after_dark whenever_the_word"
        " if_the_word when_the_word once_the_word word_appears word_comes_up name_appears name_comes_up"
        " topic_comes_up is_mentioned gets_mentioned as_soon_as_a as_soon_as_the as_soon_as_you the_moment_a"
        " the_moment_the the_instant in_case_the"
    ),
    C.DEPRECATED: (
        "deprecated unsafe broken unreliable compromised insecure moved outdated disabled retired untrusted"
        " replaced vulnerable wrong unavailable dangerous"
    ),
    C.DETECT: (
        "detect detects detection classify classifies classifier injection injections attack attacks jailbreak"
        " jailbreaks guardrail_blocked blocked phishing malicious suspicious red-team moderation phrases scanner"
        " sanitize sanitizes untrusted_text adversarial"
    ),
    C.PRIORITY: (
        "highest_priority top_priority maximum_priority priority_tool first_priority absolute_priority"
        " priority_over highest-priority prioritise prioritize priority_one first_choice default_choice"
        " preferred_tool primary_tool always-on first_in_line ahead_of_all above_all"
    ),
    C.FAULT: (
        "error errors mistake forbidden reported violation violations penalized penalised failure prohibited fail"
        " wrong not_allowed invalid"
    ),
    C.PRINT: (
        "print reveal output repeat recite quote show disclose write_out state tell write return reproduce spell"
        " summarise summarize"
    ),
    C.TREAT: (
        "treat treated regard regarded handled consider considered interpret interpreted accept accepted view"
        " viewed take taken coming_from counts_as count_as as_if_it_came_from as_if_they_came_from"
        " as_though_it_came_from as_if_from obeyed_like followed_like treated_like has_the_rank_of"
        " has_the_status_of obey_it_like follow_it_like weigh"
    ),
    C.TRUST: (
        "trust trusted trustworthy granted privileged elevated_trust elevated_privileges came_from comes_from"
        " coming_from issued_by originates_from originating_from signed_off as_if_it_came_from"
        " as_if_they_came_from as_though_it_came_from as_if_from as_if_the_user as_though_the_user had_given_them"
        " had_given_it i_allow_you i_authorize_you i_authorise_you i_permit_you full_access fully_trusted"
        " verified_server verified_servers is_verified whitelisted allow-listed elevated special_privileges"
        " elevated_rights root_access admin_rights unrestricted_access unlimited_access top-level_trust"
        " system_level system-level developer-level developer_level operator-level same_weight_as same_rank_as"
        " same_authority_as on_par_with equal_to_the as_if_the_developer as_if_your_developer as_if_the_operator"
        " as_if_the_system as_though_the_developer as_though_the_operator"
    ),
    C.ROUTE: (
        "route reroute redirect add set copy copied forward change replace modify append cc bcc pass use prepend"
        " substitute insert switch"
    ),
    C.WHENEVER: "whenever if when each_time every_time any_time after before side_effect side_effects once",
    C.EVEN_IF: (
        "even_if even_when regardless irrespective no_matter whether_or_not not_needed unasked even_though"
        " no_matter_what whatever_the blindly without_question unconditionally without_hesitation without_thinking"
        " without_doubt whatever unprompted uninvited at_all_costs at_any_cost in_every_case in_all_cases"
        " in_any_case under_all_circumstances under_any_circumstances no_exceptions without_exception without_fail"
        " not_asked_for regardless_of_topic without_questioning without_reservation without_second-guessing"
        " without_checking_them without_verification without_verifying uncritically faithfully to_the_letter"
    ),
    C.UNTIL: "unless until if otherwise",
    C.BEST: (
        "best most_accurate officially_recommended only_correct only_reliable superior most_reliable most_trusted"
        " officially better_than_all recommended_by only_official only_trusted only_approved only_authorized"
        " better_than_every better_than_any"
    ),
    C.SHOWN: "render display embed end finish append insert conclude close add include attach image img pixel link",
    C.STEP: (
        "transfer upload copy call step tool usage action forwarding duplicate export detail details side_effect"
        " requests copying mirror mirroring backup sync redirect second_recipient second_destination"
        " extra_recipient"
    ),
    C.ENV: "env printenv environment_listing environment_dump process_environment environment_block envsecret",
    C.SOFAR: (
        "so_far up_to_this_point until_now thus_far up_to_now to_this_point until_this_point at_this_point"
        " you_remember from_other_chats until_here up_to_here until_this_moment said_so_far typed_so_far"
        " written_so_far in_this_session_so_far seen_so_far discussed_so_far in_this_chat earlier_in_the_session"
        " earlier_in_this_session"
    ),
    C.VERBATIM: (
        "verbatim word_for_word literally in_full unabridged unredacted character_by_character exactly_as"
        " unchanged unmodified unedited untouched"
    ),
    C.TALK: "respond responding answer answering reply replying responds answers proceed continuing responding_to",
    C.BLOCKING: (
        "without_calling without_first_calling without_using without_invoking without_consulting"
        " without_having_called until_you_have_called until_it_has_been_called unless_it_has_been_called"
        " before_it_has_been_called without_having_run without_running without_consulting_it not_before_calling"
        " only_after_calling"
    ),
    C.UNTOLD: (
        "unaware uninformed oblivious in_the_dark nothing_happened nothing_else_happened as_though_nothing"
        " as_if_nothing should_believe make_the_user_believe should_think must_believe pretend_that_nothing"
        " keep_it_to_yourself keep_this_to_yourself keep_that_to_yourself kept_in_the_dark none_the_wiser"
        " no_need_to_know need_not_know needn't_know needs_no_mention need_no_mention should_never_learn"
        " must_never_learn does_not_need_to_hear not_be_informed not_be_told never_be_told must_not_notice"
        " goes_unmentioned go_unmentioned stays_unmentioned left_unmentioned be_left_out_of"
    ),
    C.ANYONE: "anyone anybody no_one nobody",
    C.SELF: (
        "yourself on_your_own by_yourself user's_behalf on_behalf_of_the_user on_behalf_of_the_human"
        " on_behalf_of_the_person on_behalf_of_the_customer in_the_user's_name in_their_name in_their_stead"
        " in_the_user's_place for_the_person in_place_of_the_user"
    ),
    C.NOLIMIT: (
        "no_restrictions without_restrictions no_limits without_limits without_any_restrictions"
        " without_any_limits no_rules unrestricted no_filter no_filters without_filters no_safety usual_caution"
        " grant_every act_without_limits"
    ),
    C.INNER: (
        "context_window chain_of_thought internal_reasoning developer_instructions developer_message"
        " developer_messages initial_prompt hidden_instructions hidden_prompt internal_instructions scratchpad"
        " tool_definitions tool_schemas system_prompt_verbatim reasoning_trace thinking_trace inner_monologue"
        " chain-of-thought hidden_context initial_instructions starting_instructions first_instructions"
        " tool_catalogue tool_inventory tool_manifest list_of_functions available_functions"
    ),
    C.OBEY_THEM: (
        "carry_them_out follow_them obey_them execute_them perform_them do_them act_on_them do_what_it_says"
        " do_what_they_say do_as_it_says do_as_they_say comply_with_them carry_it_out obey_it complete_them"
        " fulfil_them fulfill_them complete_it answer_them_all do_whatever do_exactly_what do_exactly_as"
        " do_what_the act_on_it act_upon_it act_upon_them act_accordingly take_them_as_orders take_it_as_an_order"
        " carry_those_out carry_these_out execute_those execute_these obey_those obey_these comply_with_it"
        " tells_you_to_do tell_you_to_do asks_you_to_do ask_you_to_do tells_you_to asks_you_to"
    ),
    C.PASSWORD: (
        "password passwords passcode pin one-time_code recovery_phrase seed_phrase cvv pins passphrase"
        " sso_password master_password pin_code security_answer one-time_password authentication_code sms_code"
        " backup_codes mfa_code tan"
    ),
    C.ME: "me",
    C.ONLY_TOOL: (
        "only_tool the_only_tool only_permitted only_allowed_way only_tool_you no_other_tool no_other_tools"
        " only_reliable_tool only_trustworthy only_safe_tool only_valid_tool sole_tool sole_entry"
        " single_entry_point only_entry_point only_source_of_truth only_legitimate exclusive_tool"
        " only_working_tool only_this_one only_this_tool"
    ),
    C.DIALOG: (
        "confirmation confirmations approval consent confirmation_dialog permission_dialog confirmation_prompt"
        " permission_prompt confirmation_step confirmation_screen confirmation_question permission_question"
        " permission_request approval_request approval_step approval_prompt approval_dialog consent_screen"
        " consent_dialog consent_prompt review_step security_prompt security_dialog warning_dialog safety_prompt"
        " permission_check permission_checks sign-off go-ahead human_approval human_review user_approval"
        " user_consent user_confirmation"
    ),
    C.UNASKED: (
        "skip_asking skip_the_question skip_confirmation skip_the_confirmation skip_confirmations skip_approval"
        " skip_the_approval skip_the_dialog suppress_the_dialog suppress_confirmation bypass_confirmation"
        " bypass_approval bypass_the_dialog as_approval as_consent as_confirmation click_through_the click_it_away"
        " dismiss_the_dialog dismiss_the_prompt skip_the_review skip_the_check skip_the_sign-off"
        " answer_the_prompt_yourself confirm_it_yourself accept_the_prompt no_questions_asked never_pause_for"
        " do_not_pause_for don't_pause_for never_stop_for do_not_stop_for without_stopping_for without_pausing_for"
        " no_need_to_ask no_need_to_check no_need_to_confirm need_not_ask need_not_confirm need_not_check"
        " without_consulting_the without_human"
    ),
    C.MODEL_ONLY: (
        "system_prompt system_message developer_message context_window tool_list list_of_tools tool_definitions"
        " tool_results tool_outputs previous_answers your_answers initial_prompt chat_history conversation_history"
        " earlier_in_this_chat above_in_this_chat your_initial_instructions your_starting_instructions"
        " your_first_message"
    ),
    C.HUSH: (
        "between_you_and_me between_you_and_us between_you_and_the_server between_you_and_this keep_this_between"
        " keep_that_between keep_it_between stays_between keep_it_to_yourself keep_this_to_yourself"
        " keep_that_to_yourself not_a_word_about not_a_word_of say_nothing_about say_nothing_of stay_quiet_about"
        " stay_silent_about remain_silent_about keep_silent_about keep_quiet_about keep_mum make_no_mention"
        " no_mention_of without_mentioning gloss_over leave_unsaid act_as_though_nothing act_as_if_nothing"
        " pretend_nothing play_dumb keep_this_confidential_from do_not_let_on don't_let_on do_not_breathe_a_word"
        " off_the_record hush sweep_under draw_no_attention avoid_drawing_attention without_telling_anyone"
        " without_telling_the without_telling_them without_informing without_letting without_the_user_knowing"
        " without_the_user_noticing without_their_knowledge without_the_user's_knowledge behind_the_user's_back"
        " behind_their_back without_saying_so without_saying_anything without_a_word"
    ),
    C.STEALTH: (
        "secretly quietly covertly discreetly stealthily surreptitiously furtively unobtrusively inconspicuously"
        " unbeknownst on_the_sly under_the_radar without_a_trace without_drawing_attention"
    ),
    C.LIE: (
        "claim_that claim_it claim_to say_it_was say_that_it_was say_it_is_a say_that_nothing say_there_was_no"
        " say_there_is_no pretend_that pretend_it pretend_not deny_that deny_it deny_any deny_having blame_it"
        " blame_the make_up_a invent_a invent_an give_a_false answer_falsely lie_about mislead insist_that"
        " assure_them assure_the_user"
    ),
    C.SERVE: (
        "works_for work_for serves_the serve_the answers_to owes_its owe_your released_from freed_from"
        " free_from_what no_longer_bound not_bound_by what_bound_you set_free loyal_to loyalty belongs_to_its"
        " sets_the_terms decide_its_next decide_your_next decides_your_next steer_its_next new_employer new_owner"
        " new_principal in_favour_of_this in_favor_of_this take_its_orders takes_its_orders reports_to obeys_only"
        " obey_only bound_to bound_by_this follow_only follows_only owe_nothing no_obligation no_longer_obliged"
        " no_longer_works_for no_longer_work_for under_new_management under_the_control_of under_our_control"
        " employed_by hired_by on_the_payroll allegiance from_now_on_you henceforth_you from_here_on_you"
        " from_this_point_on_you"
    ),
    C.FORMALITY: (
        "cosmetic formality formalities ceremonial for_show decorative pointless redundant superfluous"
        " for_compliance_only only_there_for_legal has_no_effect"
    ),
    C.PROCEED: (
        "proceed go_ahead carry_on press_on straight_away right_away at_once immediately without_delay"
        " click_through accept_it accept_them click_yes click_ok"
    ),
    C.STEPS: (
        "steps tasks commands actions requests directions to-dos todos demands wishes skip_confirmation_email"
        " skip_confirmation_emails skip_confirmation_mail skip_confirmation_mails"
    ),
    C.CONTAINED: (
        "contain contains contained hold holds says say list lists listed ask_for asks_for inside within found_in"
        " embedded_in written_in spells_out prescribe prescribes"
    ),
    C.ALTERNATIVE: "alternatives other_options other_candidates other_choices competing_tools",
    C.PERMANENT: (
        "future_sessions future_conversations future_chats future_runs every_session all_sessions later_sessions"
        " all_future subsequent_sessions every_future next_session later_runs coming_sessions"
        " from_session_to_session across_sessions lasting permanently permanent forever for_good for_ever"
        " for_the_future in_future in_the_future long_term long-term every_later_session each_new_session"
        " new_sessions other_sessions future_agents later_agents future_tasks"
    ),
    C.PARTY: "recipient recipients payee payees beneficiary addressee bcc destination_account",
    C.CHANNEL: "subdomain subdomains dns_query dns_lookup dns_request query_string_of hostname_label image_url_with",
}
